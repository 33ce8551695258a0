"""What is put together from what was counted before is what counting all of it anew gives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from random import Random
from typing import Any

import httpx
import pytest
import pytest_asyncio

from intel.records import Sighting
from intel.store.elastic.store import ElasticStore
from intel.store.port import Entry
from intel.tlp import LEVELS
from tests.contract.store.builders import make_article, publish
from tests.intel.store.elastic.conftest import store_at

pytestmark = pytest.mark.asyncio

NAMES = tuple(f"n{number}" for number in range(70))
# The first ones stand in more articles than an indicator's document names.
VALUES = tuple(f"v{number}.example" for number in range(24))
FAMILIES = ("Emotet", "Lumma", "Remcos")

Step = Callable[[ElasticStore], Coroutine[Any, Any, object]]


@pytest_asyncio.fixture
async def other_store(store: ElasticStore, elasticsearch_url: str, index_prefix: str) -> AsyncIterator[ElasticStore]:
    """What another process has."""
    other = store_at(elasticsearch_url, index_prefix)
    yield other
    await other.close()


def make_entry(random: Random, name: str) -> Entry:
    number = random.randrange(40)
    article = make_article(
        name,
        at=random.randrange(20),
        source=f"Source {random.randrange(9)}",
        title=f"Title {random.randrange(12)}",
        cluster=f"cluster-{number}",
    )
    if random.random() < 0.2:
        article = replace(article, source_domain="claimed.example")
    if random.random() < 0.1:
        article = replace(article, tlp=random.choice(LEVELS))
    values = [*VALUES[:2], *random.sample(VALUES[2:], random.randrange(6))]
    seen = [
        Sighting("domain", value, f"Of {value}.", tuple(random.sample(FAMILIES, random.randrange(3))), place)
        for place, value in enumerate(values)
    ]
    return Entry(article, seen, [article.url or ""])


def make_steps(random: Random, count: int) -> list[Step]:
    """Articles that come in, some of them again or otherwise, become stricter, or go."""
    entries = [make_entry(random, name) for name in NAMES]
    steps: list[Step] = []
    while len(steps) < count:
        kind = random.random()
        some = [random.choice(entries) for _ in range(random.randrange(1, 5))]
        id = some[0].article.id
        if kind < 0.75:
            steps.append(lambda store, some=some: store.articles.save_many(some))  # type: ignore[misc]  # a default
        elif kind < 0.85:
            changed = make_entry(random, random.choice(NAMES))
            steps.append(lambda store, one=changed: store.articles.save_many([one]))  # type: ignore[misc]
        elif kind < 0.95:
            steps.append(lambda store, id=id: store.articles.remove(id))  # type: ignore[misc]
        else:
            level = random.choice(LEVELS)
            steps.append(lambda store, id=id, level=level: store.articles.change_tlp(id, level))  # type: ignore[misc]
    return steps


async def documents(url: str, prefix: str) -> dict[str, dict[str, Any]]:
    """What the indicators' documents hold, by id."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        await client.post(f"/{prefix}iocs/_refresh")
        answer = (await client.post(f"/{prefix}iocs/_search", json={"size": 1_000})).raise_for_status().json()
    found = {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}
    for source in found.values():
        source["source_names"] = sorted(source.get("source_names", ()))
        # What nobody voted on may say so or not.
        source.pop("false_positives", None), source.pop("voted", None)
    return found


def differing(one: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]]) -> list[tuple[str, str, Any, Any]]:
    """The members that differ, each with its document and what the two say."""
    return [
        (id, name, one.get(id, {}).get(name), other.get(id, {}).get(name))
        for id in sorted({*one, *other})
        for name in sorted({*one.get(id, {}), *other.get(id, {})})
        if one.get(id, {}).get(name) != other.get(id, {}).get(name)
    ]


def silent(what: str, done: int, total: int) -> None:
    """Tells nobody."""


@pytest.mark.parametrize("at_once", [1, 6])
async def test_what_is_put_together_is_what_is_counted_anew(
    store: ElasticStore,
    other_store: ElasticStore,
    elasticsearch_url: str,
    index_prefix: str,
    at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each step takes several parts, and each part several requests, of which two are under way.
    monkeypatch.setattr("intel.store.elastic.recount._LOOKED_AT_AT_ONCE", 3)
    monkeypatch.setattr("intel.store.elastic.bulk._MOST_BYTES", 2_000)
    steps = make_steps(Random(at_once), 60)
    gate = asyncio.Semaphore(at_once)

    async def take(place: int, step: Step) -> None:
        async with gate:
            await step((store, other_store)[place % 2])

    await asyncio.gather(*(take(place, step) for place, step in enumerate(steps)))
    before = await documents(elasticsearch_url, index_prefix)
    assert max(source.get("sightings", 0) for source in before.values()) > 25
    await store.reindex(silent)
    assert differing(before, await documents(elasticsearch_url, index_prefix)) == []


async def test_an_indicator_of_an_earlier_version_is_counted_with_what_comes_in(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(store, make_article("one", at=1), "domain evil.example")
    before = await documents(elasticsearch_url, index_prefix)
    async with httpx.AsyncClient(base_url=elasticsearch_url, timeout=30) as client:
        for id, source in before.items():
            earlier = {name: value for name, value in source.items() if name != "newest"}
            await client.put(f"/{index_prefix}iocs/_doc/{id}", params={"refresh": "true"}, json=earlier)
    await publish(store, make_article("two", at=2, title="Second"), "domain evil.example")
    (stored,) = (await documents(elasticsearch_url, index_prefix)).values()
    assert (stored["sightings"], stored["article"]["title"], len(stored["newest"])) == (2, "Second", 2)
