"""`ioc reindex` again and again beside a service that is written to and read from as fast as it answers."""

from __future__ import annotations

import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from pytest_httpserver import HTTPServer

from tests.end_to_end.processes import Installation, Server, until
from tests.end_to_end.unrest import Page, Press, counted, post
from tests.engines.elasticsearch_server import elasticsearch
from tests.engines.redis_server import redis_server

from .cluster import exported
from .reading import Reader, longest_failure, slowest

_ENDED_SECONDS = 600.0
# So that a rebuilding takes its time: reports, and indicators in each.
_STORED_REPORTS, _IN_A_REPORT = 400, 50
_OURS = "kestrel-"
# An account may have 1,000 waiting, of which 16 are read at once: whoever submits more waits with the next one.
_MOST_WAITING = 800


class Writers:
    """Submits pages and votes on indicators, each as soon as the one before is acknowledged."""

    def __init__(self, server: Server, press: Press, key: str) -> None:
        self._server, self._press, self.key = server, press, key
        self.accepted: dict[str, Page] = {}
        self.votes: dict[str, str] = {}
        self.turned_away: Counter[str] = Counter()
        self._done = threading.Event()
        writers = (self._submit, self._vote)
        self._threads = [threading.Thread(target=self._go_on, args=(write,), daemon=True) for write in writers]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join(60)

    def _go_on(self, write: Callable[[int], None]) -> None:
        number = 0
        while not self._done.is_set():
            try:
                write(number)
            except (httpx.HTTPError, KeyError) as error:
                self.turned_away[type(error).__name__] += 1
            number += 1

    def _submit(self, number: int) -> None:
        page = Page("report", len(self.accepted))
        if page.number - self._press.asked.total() > _MOST_WAITING:
            time.sleep(0.1)
            return
        self._press.publish([page])
        answer = post(self._server, self._press.url(page), page.source_name, self.key)
        if answer.status_code in (200, 202):
            self.accepted[answer.json()["id"]] = page
        else:
            self.turned_away[str(answer.status_code)] += 1

    def _vote(self, number: int) -> None:
        for ioc in self._server.get("/iocs", self.key, limit=20).json()["items"][-1:]:
            path = f"{self._server.address}/api/v1/iocs/{ioc['id']}/false-positive"
            headers = {"Authorization": f"Bearer {self.key}"}
            self.votes.pop(ioc["id"], None)
            answer = httpx.put(path, json={"note": f"note {number}"}, headers=headers, timeout=30)
            if answer.status_code == 200:
                self.votes[ioc["id"]] = f"note {number}"
            else:
                self.turned_away[f"vote {answer.status_code}"] += 1


def run(rounds: int) -> int:
    """Rebuild so often on each engine, count; return the exit status."""
    wrong = []
    for engine in ("SQLite", "Elasticsearch"):
        with ExitStack() as stack:
            folder = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="rebuild-", ignore_cleanup_errors=True))
            )
            here = Installation(folder, engines(stack) if engine == "Elasticsearch" else {})
            stack.callback(here.close)
            server = here.serve()
            if engine == "Elasticsearch":
                here.start("worker")
            press = Press(stack.enter_context(HTTPServer("127.0.0.1", threaded=True)))
            stack.callback(press.close)
            wrong += _rebuilt(engine, here, server, press, rounds)
    for problem in wrong[:40]:
        print(f"WRONG: {problem}")
    print("nothing was lost, and no read failed" if not wrong else f"{len(wrong)} things are wrong")
    return 1 if wrong else 0


def engines(stack: ExitStack) -> dict[str, str]:
    return {
        "ELASTICSEARCH_URL": stack.enter_context(elasticsearch()).address,
        "ELASTICSEARCH_INDEX_PREFIX": f"rebuild-{uuid.uuid4().hex[:8]}-",
        "REDIS_URL": stack.enter_context(redis_server()).address,
        "IOC_SECRET_KEY": uuid.uuid4().hex,
    }


def _rebuilt(engine: str, here: Installation, server: Server, press: Press, rounds: int) -> list[str]:
    writers = Writers(server, press, here.key())
    _import_reports(here)
    before_all = _stored(server, writers.key, ours=False)
    reader = Reader([server.address], writers.key)
    writers.start()
    reader.start()
    wrong = []
    try:
        until(lambda: writers.accepted, "the first page is submitted", _ENDED_SECONDS)
        for number in range(rounds):
            before = _counts(writers, reader)
            rebuilt = here.run("reindex", seconds=_ENDED_SECONDS)
            during = [now - then for now, then in zip(_counts(writers, reader), before, strict=True)]
            told = "{} submissions, {} votes and {} reads".format(*during)
            print(f"{engine}, rebuilding {number + 1}: {told} beside it", flush=True)
            if rebuilt.returncode:
                wrong.append(f"{engine}: ioc reindex failed: {rebuilt.stderr}")
    finally:
        writers.stop()
    wrong += [f"{engine}: {each}" for each in _lost(server, writers)]
    if _stored(server, writers.key, ours=False) != before_all:
        wrong.append(f"{engine}: what was stored before is not as it was")
    reader.stop()
    failed = [read for read in reader.reads if read.status != 200]
    print(f"  accepted {len(writers.accepted)}, turned away {dict(writers.turned_away)}; ", end="")
    print(f"reads {len(reader.reads)}, failed {len(failed)}, slowest {slowest(reader.reads):.1f} s", flush=True)
    if failed:
        wrong.append(f"{engine}: {len(failed)} reads failed, the longest for {longest_failure(reader.reads):.1f} s")
    return [*wrong, *(f"{engine}: half written: {each}" for each in reader.torn)]


def _import_reports(here: Installation) -> None:
    (folder := here.folder / "reports").mkdir()
    for number in range(_STORED_REPORTS):
        named = (f"- d{each}[.]stored{number}[.]com" for each in range(_IN_A_REPORT))
        text = f"# Report {number}\n\nThe loader of operator {number} called these domains:\n\n" + "\n".join(named)
        (folder / f"{number}.md").write_text(text, "utf-8")
    imported = here.run("import", str(folder), "--source", "Archive", seconds=_ENDED_SECONDS)
    if imported.returncode:
        raise SystemExit(imported.stderr)


def _counts(writers: Writers, reader: Reader) -> tuple[int, int, int]:
    return len(writers.accepted), len(writers.votes), len(reader.reads)


def _lost(server: Server, writers: Writers) -> list[str]:
    def ended(id: str) -> dict[str, Any] | None:
        answer = server.get(f"/submissions/{id}", writers.key)
        state: dict[str, Any] = answer.json()
        return state if answer.status_code == 200 and state["status"] in ("done", "failed") else None

    wrong, end = [], time.monotonic() + _ENDED_SECONDS
    for id, page in writers.accepted.items():
        state = until(lambda id=id: ended(id), f"{page} ends", max(1.0, end - time.monotonic()))  # type: ignore[misc]
        if state["status"] != "done":
            wrong.append(f"{page}: {state['status']}, {state['reason']}")
    found = _stored(server, writers.key, ours=True)
    expected = counted(list(writers.accepted.values()))
    different = sorted(value for value in found.keys() | expected.keys() if found.get(value) != expected.get(value))
    wrong += [f"{value}: {found.get(value)}, not {expected.get(value)}" for value in different]
    votes = {id: server.get(f"/iocs/{id}", writers.key).text for id in writers.votes}
    return wrong + [f"the vote on {id} is lost" for id, note in writers.votes.items() if note not in votes[id]]


def _stored(server: Server, key: str, ours: bool) -> dict[str, tuple[int, int]]:
    """Return sightings and sources of the indicators that the writers' pages name, or of all others."""
    found = {ioc["value"]: (ioc["sightings"], ioc["sources"]) for ioc in exported(server, key)}
    return {value: counts for value, counts in found.items() if (_OURS in value) == ours}
