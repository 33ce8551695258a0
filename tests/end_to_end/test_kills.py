"""Whatever is killed or goes away while many submissions are read, every one ends, once, and all counts are exact."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from pytest_httpserver import HTTPServer

from tests.contract.limiter.redis_server import RedisServer
from tests.end_to_end.forwarder import Forwarder, forwarding
from tests.end_to_end.processes import Installation, Server, installed, kill, until
from tests.end_to_end.reports import Counts, Reports, calm, source
from tests.engines.engine import free_port

# More of them, and for longer, when asked by hand.
COUNT = int(os.environ.get("KILLED_SUBMISSIONS", "40"))
AWAY_SECONDS = float(os.environ.get("AWAY_SECONDS", "8"))
_LONGEST_SECONDS = 240.0 + COUNT

pytestmark = pytest.mark.timeout(600 + 4 * COUNT)


@pytest.fixture
def reports() -> Iterator[Reports]:
    with HTTPServer("127.0.0.1", threaded=True) as server:
        yield Reports(server)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {})


def serve(here: Installation, port: int) -> Server:
    """Starts `ioc serve` at that port; does not wait."""
    return Server(here.start("serve", "--port", str(port)), f"http://127.0.0.1:{port}")


def accepted(server: Server, key: str, url: str, name: str) -> str:
    """The id of a submission, as soon as somebody accepts it."""

    def ask() -> str | None:
        try:
            answer = httpx.post(
                f"{server.address}/api/v1/submit",
                json={"url": url, "source_name": name},
                headers={"Authorization": f"Bearer {key}"},
                timeout=10,
            )
        except httpx.HTTPError:
            return None
        assert answer.status_code in (200, 202, 503), answer.text
        return str(answer.json()["id"]) if answer.status_code != 503 else None

    return until(ask, f"{url} is accepted", 120)


def state(server: Server, key: str, id: str) -> dict[str, Any]:
    """The submission as it is now; nothing where the service does not answer."""
    try:
        answer = server.get(f"/submissions/{id}", key)
    except httpx.HTTPError:
        return {}
    assert answer.status_code in (200, 503), answer.text
    return dict(answer.json()) if answer.status_code == 200 else {}


def all_ended(server: Server, key: str, ids: list[str], seconds: float = _LONGEST_SECONDS) -> list[dict[str, Any]]:
    """The submissions, once the last of them is done or failed; each is asked for until it is, and then the next."""
    end = time.monotonic() + seconds

    def ended(id: str) -> dict[str, Any] | None:
        found = state(server, key, id)
        return found if found.get("status") in ("done", "failed") else None

    return [
        until(partial(ended, id), f"all of {len(ids)} submissions have ended", end - time.monotonic()) for id in ids
    ]


def counts(server: Server, key: str) -> Counts:
    """All indicators with their articles and sources."""
    found: Counts = {}
    page = server.get("/iocs", key, limit=50).json()
    while True:
        found |= {item["value"]: (item["sightings"], item["sources"]) for item in page["items"]}
        if page["next_cursor"] is None:
            return found
        page = server.get("/iocs", key, limit=50, cursor=page["next_cursor"]).json()


def check(server: Server, key: str, ids: list[str], expected: Counts) -> None:
    """Each ended as done, there is one article of each, and every count is that of a calm run."""
    ended = all_ended(server, key, ids)
    assert [each["status"] for each in ended] == ["done"] * COUNT, [each for each in ended if each["status"] != "done"]
    assert server.get("/articles").json()["total"] == COUNT
    assert len({each["article_id"] for each in ended}) == COUNT
    assert counts(server, key) == expected


def killing(victims: list[Callable[[], None]], ids: list[str], submit: Callable[[int], str]) -> None:
    """Submits all, with each victim's end at a moment that nobody chose."""
    dice = random.Random()
    moments = sorted(dice.uniform(0, COUNT) for _ in victims)
    for n in range(COUNT):
        ids.append(submit(n))
        while moments and moments[0] <= n:
            moments.pop(0)
            time.sleep(dice.uniform(0, 0.5))
            victims.pop(0)()
    for victim in victims:
        victim()


@pytest.mark.promise("promises.accepted-never-lost", "promises.idempotent")
def test_an_embedded_service_killed_again_and_again_loses_nothing(
    embedded: Installation, reports: Reports, tmp_path: Path
) -> None:
    expected = asyncio.run(calm(tmp_path, reports, COUNT))
    port, key = free_port(), embedded.key()
    running = [serve(embedded, port)]

    def strike() -> None:
        kill(running.pop().process)
        running.append(serve(embedded, port))

    ids: list[str] = []
    killing([strike] * 4, ids, lambda n: accepted(running[-1], key, reports.url(n), source(n)))
    check(running[-1], key, ids, expected)
    assert reports.most_at_once <= 6


@dataclass
class Served:
    """A server, two workers and their engines, each of which can be struck."""

    here: Installation
    redis: RedisServer
    door: Forwarder
    port: int

    def __post_init__(self) -> None:
        self.server = serve(self.here, self.port)
        self.workers = [self.here.start("worker") for _ in range(2)]

    def strike_server(self) -> None:
        kill(self.server.process)
        self.server = serve(self.here, self.port)

    def strike_worker(self) -> None:
        kill(self.workers.pop(0))
        self.workers.append(self.here.start("worker"))

    def empty_redis(self) -> None:
        self.redis.kill()
        self.redis.start()

    def take_away_elasticsearch(self) -> None:
        self.door.close()
        time.sleep(AWAY_SECONDS)
        self.door.open()


@pytest.fixture
def served(elasticsearch_url: str, index_prefix: str, tmp_path: Path) -> Iterator[Served]:
    redis = RedisServer(tmp_path)
    redis.start()
    with forwarding(elasticsearch_url) as door:
        settings = {
            "ELASTICSEARCH_URL": urlsplit(elasticsearch_url)._replace(netloc=f"127.0.0.1:{door.port}").geturl(),
            "ELASTICSEARCH_INDEX_PREFIX": index_prefix,
            "REDIS_URL": redis.url,
            "IOC_SECRET_KEY": uuid.uuid4().hex,
        }
        with contextmanager(installed)(tmp_path, settings) as here:
            yield Served(here, redis, door, free_port())
    redis.kill()


@pytest.mark.promise("promises.accepted-never-lost", "promises.idempotent", "queue.six-of-a-host")
def test_a_service_whose_parts_are_killed_and_whose_engines_go_away_loses_nothing(
    served: Served, tmp_path: Path, reports: Reports
) -> None:
    expected = asyncio.run(calm(tmp_path, reports, COUNT))
    key = served.here.key()
    victims = [
        served.strike_worker,
        served.strike_server,
        served.take_away_elasticsearch,
        served.empty_redis,
        served.strike_worker,
    ]
    ids: list[str] = []
    killing(victims, ids, lambda n: accepted(served.server, key, reports.url(n), source(n)))
    check(served.server, key, ids, expected)
    assert reports.most_at_once <= 6


def test_nothing_that_was_started_is_left(embedded: Installation) -> None:
    server = embedded.serve()
    kill(server.process)
    left = subprocess.run(["pgrep", "-g", str(server.process.pid)], capture_output=True, text=True)
    assert left.stdout == ""
