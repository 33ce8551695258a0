"""A running service told to read a hostile web: each page ends with its reason, memory stays bounded, answers go on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.processes import Installation, Server, installed
from tests.end_to_end.test_kills import accepted, all_ended
from tests.ingest.fetch.web import Web, open_web
from tests.ingest.hostile import routes
from tests.ingest.hostile.memory import held_mb
from tests.ingest.hostile.routes import Expected

pytestmark = pytest.mark.timeout(900)

MOST_MB = 600
_PARTS = (routes.redirects, routes.packed, routes.types, routes.charsets, routes.doors, routes.markup, routes.pdfs)


@contextmanager
def hostile_web() -> Iterator[tuple[Web, Expected]]:
    """Those pages of the hostile web whose end does not wait for another attempt, served from a thread."""
    loop, ready, found = asyncio.new_event_loop(), threading.Event(), list[tuple[Web, Expected]]()
    ending = asyncio.Event()

    async def serve() -> None:
        async with open_web() as web:
            expected: Expected = {}
            for part in _PARTS:
                expected |= part(web)
            found.append((web, expected))
            ready.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join(20)
        loop.close()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {"IOC_RATE_LIST": "100000/minute"})


class Watch:
    """Looks how much memory a process and its children hold, and how long an answer takes, until it is ended."""

    def __init__(self, server: Server) -> None:
        self.most_mb = self.slowest_seconds = 0.0
        self._server = server
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join(30)

    def _look(self) -> None:
        while not self._ending.wait(0.2):
            self.most_mb = max(self.most_mb, held_mb(self._server.process.pid)[0])
            begun = time.monotonic()
            assert self._server.get("/iocs").status_code == 200
            self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - begun)


@pytest.mark.promise("promises.fetch-capped", "promises.hostile-article-is-data", "promises.accepted-never-lost")
def test_a_hostile_web_ends_page_by_page_in_bounded_memory(here: Installation) -> None:
    server, key = here.serve(), here.key()
    watch = Watch(server)
    try:
        with hostile_web() as (web, expected):
            ids = {path: accepted(server, key, web.url(path), "Hostile") for path in expected}
            states = all_ended(server, key, [*ids.values()], 300)
            ended = {path: one["reason"] or "done" for path, one in zip(ids, states, strict=True)}
    finally:
        watch.end()
    wrong = {
        path: (reason, expected[path]) for path, reason in ended.items() if reason not in expected[path].split("|")
    }
    assert wrong == {}
    assert watch.most_mb < MOST_MB
    assert watch.slowest_seconds < 30
    assert "Traceback" not in here.output() and key not in here.output()
