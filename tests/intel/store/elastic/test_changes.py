"""Numbering changes while processes are killed, pause and wake up late, and stores that knew no numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from intel.errors import StoreUnavailable
from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.store import ElasticStore
from tests.contract.store.builders import hour, id_of, listed, make_article, publish, the_ioc
from tests.contract.store.test_changes import Follower
from tests.intel.store.elastic.conftest import store_at
from tests.intel.store.elastic.wire import Wire

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(900)]


@dataclass
class Pausing:
    """A `Bulk` that stops before or after the numbers are written, until it may go on."""

    bulk: Bulk
    before: bool
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def settle(self, writes: Iterable[Write]) -> None:
        if not self.before:
            await self.bulk.settle(writes)
        self.reached.set()
        await self.go_on.wait()
        if self.before:
            await self.bulk.settle(writes)


def pause(store: ElasticStore, *, before: bool) -> Pausing:
    changes: Any = store.iocs._changes
    pausing = changes._bulk = Pausing(changes._bulk, before)
    return pausing


@pytest.mark.promise("changes.any-number-of-writers")
@pytest.mark.parametrize("before", [True, False], ids=["before-writing", "after-writing"])
async def test_who_wakes_up_late_numbers_nothing_below_what_was_read(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str, before: bool
) -> None:
    late = store_at(elasticsearch_url, index_prefix)
    pausing = pause(late, before=before)
    await publish(store, make_article("a"), "domain a.example", "domain b.example")
    waking = asyncio.create_task(Follower(late).catch_up())
    await asyncio.wait_for(pausing.reached.wait(), 30)
    follower = Follower(store)
    assert sorted(await follower.catch_up()) == ["added a.example", "added b.example"]
    await publish(store, make_article("b", at=1), "domain a.example", "domain c.example")
    pausing.go_on.set()
    await asyncio.wait_for(waking, 30)
    assert sorted(await follower.catch_up()) == ["added c.example", "changed a.example"]
    afterwards = Follower(store)
    assert len(await afterwards.catch_up(2)) == 3
    assert afterwards.known == follower.known
    assert (await follower.catch_up(), await afterwards.catch_up()) == ([], [])
    await late.close()


@pytest.mark.parametrize("requests", range(2, 12))
async def test_what_a_killed_process_was_numbering_is_numbered_by_the_next(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire, requests: int
) -> None:
    await publish(store, make_article("first"), "domain first.example")
    follower = Follower(store)
    await follower.catch_up()
    await publish(store, make_article("a"), "domain a.example", "domain b.example")
    wire.requests_left = requests
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(Follower(wired_store).catch_up(), 30)
        wire.requests_left = 0
        await wired_store.ping()
    assert sorted(await follower.catch_up()) == ["added a.example", "added b.example"]
    assert len(await Follower(store).catch_up(1)) == 3


async def test_numbers_are_written_once_though_answers_get_lost(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    await publish(store, make_article("a"), "domain a.example")
    follower = Follower(wired_store)
    for _ in range(4):
        wire.answers_to_lose = 1
        for _ in range(3):
            try:
                await follower.catch_up()
            except StoreUnavailable:
                continue
    wire.answers_to_lose = 0
    await follower.catch_up()
    assert [(change.event, change.value) for change in follower.told] == [("added", "a.example")]


async def test_what_a_former_version_stored_is_told_in_order_of_its_last_sighting(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    values = ("c.example", "a.example", "b.example")
    for n, value in enumerate(values):
        await publish(store, make_article(value, at=n), f"domain {value}")
    await _forget_changes(elasticsearch_url, index_prefix)
    found = await the_ioc(store, "domain a.example")
    assert (found.added_at, found.changed_at) == (hour(1), hour(1))
    assert await listed(store, added_since=hour(1)) == ["b.example", "a.example"]
    fresh = store_at(elasticsearch_url, index_prefix)
    follower = Follower(fresh)
    await publish(fresh, make_article("new", at=-9), "domain new.example")
    assert await follower.catch_up(2) == [f"added {value}" for value in (*values, "new.example")]
    assert [change.at for change in follower.told[:3]] == [hour(0), hour(1), hour(2)]
    assert await listed(store, added_since=hour(1)) == ["b.example", "a.example", "new.example"]
    await fresh.reindex(lambda what, done, total: None)
    assert await follower.catch_up() == []
    await fresh.close()


async def _forget_changes(url: str, prefix: str) -> None:
    """Leaves of each indicator what a former version stored."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        found = await client.post(f"/{prefix}iocs/_search", json={"size": 1_000})
        for hit in found.raise_for_status().json()["hits"]["hits"]:
            document = hit["_source"]
            for name in ("added_at", "changed_at", "added_number", "change_number"):
                document.pop(name, None)
            kept = await client.put(f"/{prefix}iocs/_doc/{hit['_id']}", params={"refresh": "true"}, json=document)
            kept.raise_for_status()


async def test_changes_during_a_rebuilding_are_told_once(store: ElasticStore) -> None:
    follower, late = Follower(store), Follower(store)
    rebuilding = asyncio.create_task(store.reindex(lambda what, done, total: None))
    for n in range(8):
        await publish(store, make_article(f"a{n % 3}", at=n), f"domain d{n % 5}.example", f"domain e{n}.example")
        await follower.poll(3)
    await rebuilding
    await follower.catch_up()
    await late.catch_up()
    known = {id: ioc for id, ioc in follower.known.items() if ioc is not None}
    assert known == {id: ioc for id, ioc in late.known.items() if ioc is not None}
    assert sorted(ioc.value for ioc in known.values()) == sorted(await listed(store))
    assert follower.known[id_of("domain e0.example")] is None
