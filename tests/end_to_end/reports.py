"""A site with many reports that share indicators, some of them copies of one another, and what a calm service makes of
them.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from ingest.fetch import FetchedPage
from ingest.pipeline import Pipeline
from ingest.reading import Page, ReadPage, read_page
from intel.query import IocQuery
from intel.store.sqlite.store import SqliteStore
from intel.times import utc_now
from tests.ingest.writing import prose, reworded

# By value: how many articles and independent sources name an indicator.
Counts = dict[str, tuple[int, int]]

_COPY = 9
_SOURCES = 7


@dataclass
class Reports:
    """Serves `/report/{n}`; notes how many are asked for at once, at most."""

    server: HTTPServer
    pause_seconds: float = 0.05

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._now = self.most_at_once = self.asked = 0
        self.server.expect_request(re.compile("/report/.*")).respond_with_handler(self._answer)

    def url(self, n: int) -> str:
        return self.server.url_for(f"/report/{n}")

    def _answer(self, request: Request) -> Response:
        with self._lock:
            self.asked += 1
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        time.sleep(self.pause_seconds)
        with self._lock:
            self._now -= 1
        return Response(page(int(request.path.rpartition("/")[2])), content_type="text/html")


def source(n: int) -> str:
    """The name under which a report is submitted."""
    return f"Source {n % _SOURCES}"


def page(n: int) -> str:
    """Every tenth is a copy of the one before it, with a few other words."""
    original = n - 1 if n % 10 == _COPY else n
    text = prose(original, 14)
    text = reworded(text, 0.02, n) if original != n else text
    named = (
        f"It called hxxps://c{original}[.]kestrel-files[.]net/gate.php and login{original % 4}[.]kestrel-share[.]net, "
        f"exploiting CVE-2024-{3400 + original % 3}."
    )
    published = f"2026-11-{1 + n % 17:02}T{n % 24:02}:00:00Z"
    return (
        f"<html><head><title>Report {n}</title><meta property='article:published_time' content='{published}'></head>"
        f"<body><article><h1>Report {n}</h1><p>{text}</p><p>{named}</p></article></body></html>"
    )


async def calm(folder: Path, reports: Reports, count: int) -> Counts:
    """What comes of the same reports when they are taken in one after the other and nothing happens."""

    async def fetch(url: str) -> FetchedPage:
        body = page(int(url.rpartition("/")[2])).encode()
        return FetchedPage(url, url, 200, "text/html", "utf-8", body, {})

    async def read(page: Page) -> ReadPage:
        return read_page(page)

    store = SqliteStore(folder / "calm.db")
    await store.setup()
    try:
        pipeline = Pipeline(fetch, read, store, utc_now)
        for n in range(count):
            await pipeline.take_url(reports.url(n), source(n), claimed=True)
        found = await store.iocs.find(IocQuery(limit=10_000))
        return {ioc.value: (ioc.sightings, ioc.sources) for ioc in found.items}
    finally:
        await store.close()
