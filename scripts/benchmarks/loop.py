"""How long single requests hold the event loop, and what clients that never read cost all others."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from api.app import create_app
from intel.ids import article_id
from intel.records import Article, Reading, Sighting
from intel.weekly import week_id

from . import watched
from .served import served
from .worlds import World, embedded

_MOST_SECONDS = 120
_UNREAD_SECONDS = 5
_UNREAD_CLIENTS = 30
_SEEN_AT = datetime(2026, 11, 18, tzinfo=UTC)
_URL = "https://news.example/large"
_ID = article_id(_URL)
_WEEK = week_id(_SEEN_AT)
_API = f"/api/v1/articles/{_ID}"
# Paths whose answers tell of the whole article, and by the week and the focus of all of its indicators.
_ASKED = (
    _API, f"{_API}?format=csv", f"{_API}?format=stix", f"{_API}?format=txt", f"{_API}/revisions", f"{_API}/revisions/1",
    f"{_API}/candidates", f"/articles/{_ID}", f"/articles/{_ID}?format=csv", f"/articles/{_ID}/weighed",
    f"/api/v1/weekly/{_WEEK}", "/api/v1/focus", "/api/v1/iocs", "/api/v1/iocs?facets=true", "/api/v1/articles?q=host",
)  # fmt: skip
_UNREAD = (_API, f"{_API}?format=stix", f"/articles/{_ID}?format=csv", f"/articles/{_ID}")


@dataclass(frozen=True, slots=True)
class Request:
    """What one request cost the service, in milliseconds; `held` and `late` as in `watched.Watch`."""

    path: str
    cpu: float
    held: float
    late: float


@dataclass(frozen=True, slots=True)
class Unread:
    """The slowest `/healthz` in milliseconds, and the memory in MB, while clients ask for a path and never read."""

    path: str
    healthz: float
    held: float
    late: float
    more_memory: float


@dataclass(frozen=True, slots=True)
class LoopReport:
    """All of it; each path is asked once while nothing else is, and then by clients that do not read."""

    requests: tuple[Request, ...]
    unread: tuple[Unread, ...]


def measure_loop(indicators: int, tell: Callable[[str], None]) -> LoopReport:
    """Measure on an embedded store whose one article names so many indicators."""
    with embedded() as world:
        tell(f"fills an article with {indicators:,} indicators")
        asyncio.run(_fill(world, indicators))
        with served(world.environment, watched.APP) as address:
            _stalls(address)
            tell("asks for one path after the other")
            requests = tuple(_asked(address, path) for path in _ASKED)
            tell(f"asks as {_UNREAD_CLIENTS} clients that never read")
            return LoopReport(requests, tuple(_left_unread(address, path) for path in _UNREAD))


def print_loop(report: LoopReport) -> None:
    """Print a line for each path; times in milliseconds."""
    lines = [f"{'one request':58} {'CPU':>7} {'held':>6} {'late':>6}"]
    lines += [f"{one.path:58} {one.cpu:7.0f} {one.held:6.1f} {one.late:6.1f}" for one in report.requests]
    lines += ["", f"{f'{_UNREAD_CLIENTS} that never read':58} {'healthz':>7} {'held':>6} {'late':>6} {'MB':>6}"]
    lines += [
        f"{one.path:58} {one.healthz:7.0f} {one.held:6.1f} {one.late:6.1f} {one.more_memory:6.1f}"
        for one in report.unread
    ]
    sys.stdout.write("\n".join(lines) + "\n")


async def _fill(world: World, indicators: int) -> None:
    store = create_app(world.settings).state.service.store
    await store.setup()
    try:
        sightings, text = _sightings(indicators), "\n".join(map(_sentence, range(indicators)))
        article = Article(
            id=_ID, url=_URL, title="Every host of a campaign", source_name="News", author=None, published_at=_SEEN_AT,
            fetched_at=_SEEN_AT, language="en", summary=text[:200], cluster_id="large", text=text,
        )  # fmt: skip
        await store.articles.save(article, sightings, [_URL])
        named = tuple((one.type, one.value) for one in sightings)
        candidates = tuple(map(_candidate, range(indicators)))
        await store.readings.put(Reading(_ID, 1, _SEEN_AT, article.title, named, text, candidates))
    finally:
        await store.close()


def _host(number: int) -> str:
    return f"host{number}.corp{number % 977}.example"


def _sentence(number: int) -> str:
    return f"It connected to {_host(number).replace('.', '[.]')} over TLS and loaded Emotet."


def _sightings(indicators: int) -> tuple[Sighting, ...]:
    hosts = (Sighting("domain", _host(n), _sentence(n), ("Emotet",), n) for n in range(indicators - 1))
    return (*hosts, Sighting("malware", "Emotet", _sentence(0), (), indicators))


def _candidate(number: int) -> dict[str, str | int | bool]:
    return {
        "type": "domain", "value": _host(number), "spelling": _host(number), "start": number * 80 + 16,
        "end": number * 80 + 40, "place": "main", "kept": number % 5 > 0, "score": 5, "rule": "defanged",
        "reason": "It is defanged.",
    }  # fmt: skip


def _asked(address: str, path: str) -> Request:
    _stalls(address)
    _get(address, path)
    found = _stalls(address)
    return Request(path, found["cpu"] * 1000, found["held"] * 1000, found["late"] * 1000)


def _left_unread(address: str, path: str) -> Unread:
    before, slowest = _stalls(address), 0.0
    with _clients_that_never_read(address, path):
        end = time.perf_counter() + _UNREAD_SECONDS
        while (start := time.perf_counter()) < end:
            _get(address, "/healthz")
            slowest = max(slowest, time.perf_counter() - start)
            time.sleep(0.02)
        found = _stalls(address)
    more = (found["memory"] - before["memory"]) / 1e6
    return Unread(path, slowest * 1000, found["held"] * 1000, found["late"] * 1000, more)


@contextmanager
def _clients_that_never_read(address: str, path: str) -> Iterator[None]:
    host, port = urlsplit(address).hostname, urlsplit(address).port
    with ExitStack() as opened:
        for _ in range(_UNREAD_CLIENTS):
            client = opened.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, port))
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        yield


def _stalls(address: str) -> dict[str, float]:
    """Return what the watch measured since it was asked before."""
    found: dict[str, float] = json.loads(_get(address, watched.STALLS))
    return found


def _get(address: str, path: str) -> bytes:
    with urllib.request.urlopen(address + path, timeout=_MOST_SECONDS) as answer:  # noqa: S310 - our own http address
        return bytes(answer.read())
