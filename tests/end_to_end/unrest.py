"""Services whose processes die in the middle of their work, and the pages that they are to read meanwhile."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.api.pages import article_page
from tests.contract.limiter.redis_server import RedisServer
from tests.end_to_end.processes import Installation, Server, kill, terminate, until

# What becomes of a page of each kind, however often whoever reads it is killed.
REASONS = {"report": None, "copy": None, "slow": None, "flaky": None, "absent": "http_404", "empty": "no_text"}
_SHARED = 4
_READ = "https://c{n}.kestrel-files.net/gate.php"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the press: a copy says what the report of its number says."""

    kind: str
    number: int

    @property
    def path(self) -> str:
        return f"/{self.kind}/{self.number}"

    @property
    def source_name(self) -> str:
        return f"{self.kind} {self.number}"


class Press:
    """Publishes pages of every kind; some take their time."""

    def __init__(self, server: HTTPServer) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._pause = threading.Event()
        self.asked: Counter[str] = Counter()

    def publish(self, pages: Sequence[Page]) -> None:
        for page in pages:
            self._server.expect_request(page.path).respond_with_handler(self._answer)

    def url(self, page: Page) -> str:
        return self._server.url_for(page.path)

    def close(self) -> None:
        self._pause.set()

    def _answer(self, request: Request) -> Response:
        _, kind, number = request.path.split("/")
        with self._lock:
            self.asked[request.path] += 1
            first = self.asked[request.path] == 1
        self._pause.wait({"slow": 2.0, "report": 0.2}.get(kind, 0.0))
        if kind == "absent" or (kind == "flaky" and first):
            return Response("not now", status=404 if kind == "absent" else 503)
        return Response("" if kind == "empty" else _report(int(number)), content_type="text/html")


def _report(n: int) -> str:
    words = hashlib.sha512(str(n).encode()).hexdigest()
    told = " ".join(f"the operator called {words[at : at + 4]} waited" for at in range(0, 120, 4))
    return article_page(
        f"Kestrel report {n}",
        f"The loader of campaign {n} called hxxps://c{n}[.]kestrel-files[.]net/gate.php at night.",
        f"Its samples reported to shared{n % _SHARED}[.]kestrel-hub[.]org, and {told}.",
    )


def planned(seed: int) -> list[Page]:
    """Thirty-odd pages of every kind in a random order; copies of some reports among them."""
    kinds = ["report"] * 15 + ["slow"] * 6 + ["flaky"] * 4 + ["absent"] * 3 + ["empty"] * 2
    pages = [Page(kind, number) for number, kind in enumerate(kinds)]
    pages += [Page("copy", number) for number in range(0, 12, 3)]
    random.Random(seed).shuffle(pages)
    return pages


def counted(pages: Sequence[Page]) -> dict[str, tuple[int, int]]:
    """Sightings and sources of each domain and URL that those pages name: all of them stand on one host."""
    sightings = Counter[str]()
    for page in pages:
        if REASONS[page.kind] is None:
            sightings.update(_named(page.number))
    return {value: (count, 1) for value, count in sightings.items()}


def _named(n: int) -> tuple[str, ...]:
    return _READ.format(n=n), f"c{n}.kestrel-files.net", f"shared{n % _SHARED}.kestrel-hub.org"


class Service(Protocol):
    """A running service: where to ask it, and what may befall it."""

    @property
    def servers(self) -> Sequence[Server]: ...

    def faults(self) -> list[Callable[[], None]]:
        """In the order in which they are to happen; each returns when the service was started again."""


class Embedded:
    """The whole service in one process."""

    def __init__(self, here: Installation) -> None:
        self._here = here
        self.servers = [here.serve()]

    def faults(self) -> list[Callable[[], None]]:
        return [self._kill, self._kill, self._lock_its_store, self._stop]

    def _kill(self) -> None:
        kill(self.servers[0].process)
        self.servers[0] = self._here.serve()

    def _stop(self) -> None:
        assert terminate(self.servers[0].process) == 0, self._here.output()
        self.servers[0] = self._here.serve()

    def _lock_its_store(self) -> None:
        """As a backup would: whoever submits meanwhile is told to come again."""
        with closing(sqlite3.connect(self._here.folder / "data" / "ioc.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            key = self._here.environment["TEST_KEY"]
            answer = post(self.servers[0], "http://127.0.0.1/nobody", "Nobody", key)
            other.execute("ROLLBACK")
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable"), answer.text
        assert int(answer.headers["Retry-After"]) >= 1


class Served:
    """Two API servers and two workers on Elasticsearch and on a Redis that forgets."""

    def __init__(self, here: Installation, redis: RedisServer) -> None:
        self._here, self._redis = here, redis
        self.servers = [here.serve(), here.serve()]
        self._workers = [here.start("worker"), here.start("worker")]

    def faults(self) -> list[Callable[[], None]]:
        return [self._kill_workers, self._kill_a_server, self._empty_redis, self._stop_a_worker]

    def _kill_workers(self) -> None:
        for worker in self._workers:
            kill(worker)
        self._workers = [self._here.start("worker"), self._here.start("worker")]

    def _stop_a_worker(self) -> None:
        assert terminate(self._workers[1]) == 0, self._here.output()
        self._workers[1] = self._here.start("worker")

    def _kill_a_server(self) -> None:
        kill(self.servers[1].process)
        self.servers[1] = self._here.serve()

    def _empty_redis(self) -> None:
        self._redis.kill()
        self._redis.start()


def post(server: Server, url: str, source_name: str, key: str) -> httpx.Response:
    return httpx.post(
        f"{server.address}/api/v1/submit",
        json={"url": url, "source_name": source_name},
        headers={"Authorization": f"Bearer {key}"},
        timeout=60,
    )


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission that was answered with 202, or with 200 for what was known by then."""

    id: str
    page: Page
    key: str


def submit_in_unrest(
    service: Service, press: Press, pages: Sequence[Page], keys: Sequence[str], seed: int
) -> list[Accepted]:
    """Submits all pages, every third with each key, while the service's faults happen one after the other."""
    chance, faults = random.Random(seed), service.faults()
    every = len(pages) // len(faults)
    accepted: list[Accepted] = []
    for at, page in enumerate(pages):
        asked = press.asked.total()  # before the page comes in: it may be read before the next look
        for key in keys if at % 3 == 0 else keys[:1]:
            # The server that is killed next has just said 202.
            answer = post(service.servers[-1], press.url(page), page.source_name, key)
            assert answer.status_code in (200, 202), answer.text
            accepted.append(Accepted(answer.json()["id"], page, key))
        if at % every == every - 1:
            if chance.random() < 0.6:
                until(lambda asked=asked: press.asked.total() > asked, "a page is being read")  # type: ignore[misc]
            faults.pop(0)()
    return accepted


def found(server: Server, key: str, path: str, **parameters: Any) -> list[dict[str, Any]]:
    """All items of a list; there are no more than a page holds."""
    answer = server.get(path, key, limit=50, **parameters).json()
    assert answer["total"] == len(answer["items"]), answer["total"]
    items: list[dict[str, Any]] = answer["items"]
    return items
