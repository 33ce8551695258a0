"""Documents that are read together."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from intel.records import ArticleTotals
from intel.store.elastic.store import ElasticStore
from tests.contract.store.builders import hour, make_article, make_submission, publish
from tests.contract.store.test_accounts import make_account, make_key
from tests.contract.store.test_searches import make_delivery, make_search
from tests.intel.store.elastic.wire import Wire

pytestmark = pytest.mark.asyncio


async def test_a_key_and_its_account_are_one_request(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    await store.accounts.create(make_account())
    await store.accounts.add_key(make_key())
    found = await wired_store.accounts.key_and_account("account-one", 0, "secret")
    assert found == (make_key(), replace(make_account(), role="administrator"))
    assert len(wire.heads) == 1


async def test_what_several_ask_for_is_one_document_of_the_request_and_everybody_is_told(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    for slot in range(2):
        await store.accounts.add_key(make_key(slot=slot))
    reads = [wired_store.accounts.get_key("account-one", slot) for slot in (0, 1, 0, 2, 0)]
    assert await asyncio.gather(*reads) == [
        make_key(slot=0),
        make_key(slot=1),
        make_key(slot=0),
        None,
        make_key(slot=0),
    ]
    await asyncio.gather(*(wired_store.accounts.get_key("account-one", slot) for slot in (0, 1, 2)))
    one, other = map(length_told, wire.heads)
    assert one == other


async def test_what_there_is_to_search_is_one_search_for_all_who_are_told_it(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    await publish(store, make_article(at=3), "domain evil.example")
    told = await asyncio.gather(*(wired_store.articles.totals() for _ in range(5)))
    assert told == [ArticleTotals(1, 1, hour(3))] * 5
    (head,) = wire.heads
    assert "/_search?" in head


async def test_a_sweep_makes_nothing_visible_that_a_sweep_did_not_long_ago_and_tells_nothing_that_ended(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    for name in ("one", "two", "three"):
        await store.submissions.add(make_submission(name))
    assert len(await wired_store.submissions.due(hour(9), 9)) == 3
    taken = await store.submissions.claim("submission-one", hour(9), hour(10))
    assert taken is not None
    await store.submissions.update(replace(taken, status="done"))
    await store.submissions.claim("submission-two", hour(9), hour(10))
    wire.heads.clear()
    assert [one.id for one in await wired_store.submissions.due(hour(9), 9)] == ["submission-three"]
    assert not any("_refresh" in head for head in wire.heads)
    assert [one.id for one in await wired_store.submissions.due(hour(9), 1)] == ["submission-three"]


async def test_who_looks_for_deliveries_again_and_again_makes_them_visible_only_after_a_write(
    wired_store: ElasticStore, wire: Wire
) -> None:
    assert await wired_store.deliveries.due(hour(9), 9) == ()
    assert not await wired_store.searches.any_told()
    wire.heads.clear()
    assert await wired_store.deliveries.due(hour(9), 9) == ()
    assert not await wired_store.searches.any_told()
    assert not any("_refresh" in head for head in wire.heads)
    await wired_store.deliveries.put(make_delivery("a"))
    await wired_store.searches.add(replace(make_search("one"), webhook_url="https://hook.example/a"), 9)
    assert [one.id for one in await wired_store.deliveries.due(hour(9), 9)] == ["a"]
    assert await wired_store.searches.any_told()


def length_told(head: str) -> int:
    """The length of the request's body."""
    return next(int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:"))
