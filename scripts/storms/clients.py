"""Clients that ask for five times what they may, and such as hold connections and never come to the point."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import httpx

_PATIENCE_SECONDS = 30.0
UNREAD = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20
_ESTABLISHED = 1
# Requests a minute.
_A_CONNECTION = 60
# Those who hold connections have addresses of their own; a process takes half of its connections from one.
HOLDERS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")


@dataclass
class Asked:
    """What became of requests: how many of each status (0: no answer), how long each took that passed, and what those
    said that failed.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

    def note(self, status: int, seconds: float, told: str = "") -> None:
        self.statuses[status] += 1
        if not is_fine(status):
            self.failures[f"{status} {told}"] += 1
        elif status < 400:
            self.seconds.append(seconds)


Choose = Callable[[random.Random], tuple[str, str, object]]


class Clients:
    """Threads that go on until `stop`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: dict[str, Asked] = {}
        self._host, _, port = address.removeprefix("http://").partition(":")
        self._port = int(port)
        self._done = threading.Event()
        self._threads: list[threading.Thread] = []

    def ask(self, name: str, per_minute: float, headers: dict[str, str], choose: Choose) -> None:
        """Ask so often, over a few connections: what `choose` returns (method, path, body)."""
        noted = self.asked.setdefault(name, Asked())
        tasks = max(1, round(per_minute / _A_CONNECTION))

        def go_on() -> None:
            chance = random.Random()
            with httpx.Client(base_url=self.address, headers=headers, timeout=_PATIENCE_SECONDS) as client:
                due = time.monotonic()
                while not self._done.wait(max(0.0, due - time.monotonic())):
                    due = max(due + 60 * tasks / per_minute, time.monotonic() - 5)
                    method, path, body = choose(chance)
                    begun = time.monotonic()
                    try:
                        answer = client.request(method, path, json=body)
                        status, told = answer.status_code, f"{method} {path.partition('?')[0]}: {answer.text[:300]}"
                    except httpx.HTTPError as error:
                        status, told = 0, f"{method} {path.partition('?')[0]}: {type(error).__name__}"
                    noted.note(status, time.monotonic() - begun, told)

        for _ in range(tasks):
            self._start(go_on)

    def hold(self, count: int, first: bytes = b"", drip: bytes = b"") -> None:
        """Keep so many connections open that send `first` and, each second, `drip`, and read nothing."""

        def go_on() -> None:
            held: list[socket.socket] = []
            try:
                while not self._done.wait(1.0):
                    held = [each for each in held if _is_open(each, drip)]
                    for number in range(count - len(held)):
                        if self._done.is_set():
                            break
                        held += self._connected(HOLDERS[number % len(HOLDERS)], first)
            finally:
                for each in held:
                    each.close()

        self._start(go_on)

    def stop(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join(_PATIENCE_SECONDS + 10)

    def _connected(self, source: str, first: bytes) -> Iterator[socket.socket]:
        made = socket.socket()
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.settimeout(5)
            made.bind((source, 0))
            made.connect((self._host, self._port))
            made.sendall(first)
        except OSError:
            made.close()
        else:
            made.setblocking(False)
            yield made

    def _start(self, go_on: Callable[[], None]) -> None:
        thread = threading.Thread(target=go_on, daemon=True)
        thread.start()
        self._threads.append(thread)


def _is_open(connection: socket.socket, drip: bytes) -> bool:
    """Close it where the server did, which the kernel tells without a byte being read."""
    with contextlib.suppress(OSError):
        if drip:
            connection.send(drip)
        if connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _ESTABLISHED:
            return True
    connection.close()
    return False


def is_fine(status: int) -> bool:
    """Tell whether an answer is one that five times the limits must expect."""
    return (status < 400 and status != 0) or status == 429


def percentile(seconds: Sequence[float], percent: float) -> float:
    """Return the seconds that so many per cent do not exceed; 0 where there are none."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else 0.0
