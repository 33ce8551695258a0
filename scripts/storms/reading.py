"""Reads that go on all the time, and what became of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx

_PAUSE_SECONDS = 0.1
_PATIENCE_SECONDS = 30.0
_PATHS = ("/iocs?limit=5", "/iocs?q=kestrel&limit=5", "/articles?limit=5", "/iocs?value=shared1.kestrel-hub.org")


@dataclass(frozen=True, slots=True)
class Read:
    """One read: when it was sent and answered (monotonic seconds), its server and status; 0 is no answer."""

    sent: float
    answered: float
    server: int
    status: int
    path: str


@dataclass
class Reader:
    """Asks each server in turn for lists, searches and newest articles; notes articles that are half written."""

    servers: Sequence[str]
    key: str
    reads: list[Read] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        for number in range(len(self.servers)):
            thread = threading.Thread(target=self._go_on, args=(number,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(_PATIENCE_SECONDS + 5)

    def _go_on(self, number: int) -> None:
        headers = {"Authorization": f"Bearer {self.key}"}
        base = f"{self.servers[number]}/api/v1"
        with httpx.Client(base_url=base, headers=headers, timeout=_PATIENCE_SECONDS) as client:
            turn = 0
            while not self._stopping.wait(_PAUSE_SECONDS):
                found = self._read(client, number, _PATHS[turn % len(_PATHS)])
                if found is not None and "articles" in _PATHS[turn % len(_PATHS)]:
                    for article in found.json()["items"][:1]:
                        self._look_at(client, number, article["id"])
                turn += 1

    def _look_at(self, client: httpx.Client, number: int, id: str) -> None:
        answer = self._read(client, number, f"/articles/{id}")
        if answer is not None and (article := answer.json())["ioc_count"] != article["iocs_total"]:
            self.torn.append(f"{id}: {article['ioc_count']} told, {article['iocs_total']} there")

    def _read(self, client: httpx.Client, number: int, path: str) -> httpx.Response | None:
        sent = time.monotonic()
        try:
            answer = client.get(path)
        except httpx.HTTPError:
            answer = None
        status = answer.status_code if answer is not None else 0
        self.reads.append(Read(sent, time.monotonic(), number, status, path))
        return answer if status == 200 else None


def longest_failure(reads: Sequence[Read]) -> float:
    """Return for how many seconds a server at most answered no read: from its last good answer to the next one."""
    longest = 0.0
    for server in {read.server for read in reads}:
        last_good, failed = None, False
        for read in sorted((read for read in reads if read.server == server), key=lambda read: read.answered):
            if read.status != 200:
                failed = True
                continue
            if failed and last_good is not None:
                longest = max(longest, read.answered - last_good)
            last_good, failed = read.answered, False
    return longest


def slowest(reads: Sequence[Read]) -> float:
    """Return how many seconds the slowest read took."""
    return max((read.answered - read.sent for read in reads), default=0.0)
