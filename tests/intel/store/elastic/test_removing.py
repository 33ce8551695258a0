"""Removals that are killed halfway."""

from __future__ import annotations

import asyncio

import pytest

from intel.errors import StoreUnavailable
from intel.records import Reading
from intel.store.elastic.store import ElasticStore
from tests.api.pages import eventually
from tests.contract.store.builders import hour, listed, make_article, search, seen, the_ioc
from tests.intel.store.elastic.wire import Wire

pytestmark = pytest.mark.asyncio

GONE = make_article("gone", at=1, source="Agency", title="Poisoned", cluster="one")
MATE = make_article("mate", at=3, source="Paper", cluster="one")
OTHER = make_article("other", at=2, source="Agency", cluster="two")


async def state(store: ElasticStore) -> dict[str, object]:
    """Everything that readers see of the articles above."""
    indicators = [await the_ioc(store, f"domain {value}") for value in await listed(store)]
    sightings = [one async for one in store.articles.seen_between(hour(-100), hour(100))]
    addresses = [await store.articles.id_of(address) for address in ("near:one", GONE.url or "", MATE.url or "")]
    articles = [await store.articles.get(article.id) for article in (GONE, MATE, OTHER)]
    basis = await store.articles.basis(hour(-100), hour(100))
    found = [await search(store, q) for q in ("poisoned", "kept.example", "only.example")]
    return {
        "iocs": indicators,
        "sightings": sightings,
        "addresses": addresses,
        "articles": articles,
        "basis": basis,
        "found": found,
        "readings": await store.readings.of(GONE.id),
    }


async def publish_all(store: ElasticStore) -> None:
    for article, indicators in (
        (GONE, ("domain kept.example", "domain only.example")),
        (MATE, ("domain kept.example", "domain mate.example")),
        (OTHER, ("domain kept.example",)),
    ):
        await store.articles.save(article, seen(*indicators), ["near:one", article.url or ""])
    await store.readings.put(Reading(GONE.id, 1, hour(0), "Poisoned", (), "text", ()))


@pytest.fixture
async def expected(store: ElasticStore) -> dict[str, object]:
    """The state that no interruption may change in the end."""
    await publish_all(store)
    await store.articles.remove(GONE.id)
    return await state(store)


@pytest.mark.promise("remove.concurrent")
@pytest.mark.parametrize("requests", range(2, 38, 6))
async def test_a_removal_killed_anywhere_is_finished_by_the_sweep(
    expected: dict[str, object], store: ElasticStore, wired_store: ElasticStore, wire: Wire, requests: int
) -> None:
    await publish_all(store)
    wire.requests_left = requests
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(wired_store.articles.remove(GONE.id), 60)
        wire.requests_left = 0
        await wired_store.ping()
    if await store.articles.get(GONE.id) is not None:
        await store.articles.remove(GONE.id)

    async def finished() -> bool:
        """The sweep leaves a removal alone until its holder's time is up."""
        await store.articles.finish_removals()
        return await state(store) == expected

    await eventually(finished, seconds=40)


@pytest.mark.parametrize("requests", range(6, 28, 12))
async def test_an_article_is_saved_whole_after_a_removal_that_was_killed(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire, requests: int
) -> None:
    await publish_all(store)
    before = await state(store)
    wire.requests_left = requests
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(wired_store.articles.remove(GONE.id), 60)
        wire.requests_left = 0
        await wired_store.ping()
    await publish_all(store)
    await store.articles.finish_removals()
    after = await state(store)
    assert {name: after[name] for name in before if name != "addresses"} == {
        name: before[name] for name in before if name != "addresses"
    }
