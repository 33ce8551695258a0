"""Accepted means done, or failed with a reason: whatever is killed meanwhile, and however often."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tests.contract.limiter.redis_server import RedisServer
from tests.end_to_end.processes import Installation, installed, until
from tests.end_to_end.unrest import (
    REASONS,
    Accepted,
    Embedded,
    Page,
    Press,
    Served,
    Service,
    counted,
    found,
    planned,
    submit_in_unrest,
)

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.promise("promises.accepted-never-lost", "promises.idempotent", "submit.ends-within-180-seconds"),
]

SEED = 20261120


@pytest.fixture
def press() -> Iterator[Press]:
    with HTTPServer("127.0.0.1", threaded=True) as server:
        made = Press(server)
        yield made
        made.close()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {})


@pytest.fixture
def redis(redis_url: str, tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that the test may kill; left out where Redis is left out altogether."""
    (folder := tmp_path / "redis").mkdir()
    server = RedisServer(folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def on_engines(elasticsearch_url: str, index_prefix: str, redis: RedisServer, tmp_path: Path) -> Iterator[Installation]:
    settings = {
        "ELASTICSEARCH_URL": elasticsearch_url,
        "ELASTICSEARCH_INDEX_PREFIX": index_prefix,
        "REDIS_URL": redis.url,
        "IOC_SECRET_KEY": uuid.uuid4().hex,
    }
    yield from installed(tmp_path, settings)


def keys_of(here: Installation) -> list[str]:
    return [here.key("analyst@example.org"), here.key("another@example.org")]


def check_all_ended(service: Service, accepted: list[Accepted]) -> None:
    """Each with what its page deserves; a failure says why."""
    for one in accepted:
        state = until(partial(ended, service, one), f"{one} has ended", 120)
        reason = REASONS[one.page.kind]
        assert (state["status"], state["reason"]) == ("failed" if reason else "done", reason), state
        assert state["detail"] or not reason, state


def ended(service: Service, one: Accepted) -> dict[str, Any] | None:
    state: dict[str, Any] = service.servers[0].get(f"/submissions/{one.id}", one.key).json()
    return state if state["status"] in ("done", "failed") else None


def check_counts(service: Service, pages: list[Page], key: str) -> None:
    """No article or indicator is there twice, and every number is what counting again gives."""
    articles = found(service.servers[-1], key, "/articles")
    read = sorted(page.path for page in pages if REASONS[page.kind] is None)
    assert sorted("/" + "/".join(article["url"].split("/")[3:]) for article in articles) == read
    iocs = [ioc for type in ("url", "domain") for ioc in found(service.servers[-1], key, "/iocs", type=type)]
    assert len({ioc["value"] for ioc in iocs}) == len(iocs)
    assert {ioc["value"]: (ioc["sightings"], ioc["sources"]) for ioc in iocs} == counted(pages)
    again = Counter[str]()
    for article in articles:
        whole = service.servers[0].get(f"/articles/{article['id']}", key).json()
        assert whole["ioc_count"] == len(whole["iocs"])
        again.update(ioc["value"] for ioc in whole["iocs"])
    assert again == {value: sightings for value, (sightings, _) in counted(pages).items()}


def check_outcome(here: Installation, service: Service, press: Press, keys: list[str]) -> None:
    pages = planned(SEED)
    press.publish(pages)
    accepted = submit_in_unrest(service, press, pages, keys, SEED)
    check_all_ended(service, accepted)
    check_counts(service, pages, keys[0])
    assert "Traceback" not in here.output(), here.output()


def test_an_embedded_service_that_is_killed_locked_out_and_stopped_loses_nothing(
    alone: Installation, press: Press
) -> None:
    service, keys = Embedded(alone), keys_of(alone)
    alone.environment["TEST_KEY"] = keys[0]
    check_outcome(alone, service, press, keys)


def test_servers_workers_and_a_redis_that_are_killed_in_turn_lose_nothing(
    on_engines: Installation, redis: RedisServer, press: Press
) -> None:
    check_outcome(on_engines, Served(on_engines, redis), press, keys_of(on_engines))
