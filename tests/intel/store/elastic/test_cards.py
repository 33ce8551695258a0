"""Cards that the indicators' own documents hold."""

from __future__ import annotations

import asyncio

import pytest

from intel.errors import StoreUnavailable
from intel.query import IocFilter, IocQuery
from intel.records import Vote
from intel.store.elastic.store import ElasticStore
from tests.contract.store.builders import hour, id_of, make_article, publish
from tests.intel.store.elastic.wire import Wire

pytestmark = pytest.mark.asyncio

VOTED = id_of("domain evil.example")


@pytest.mark.parametrize("requests", range(0, 10, 2))
async def test_a_vote_that_is_cut_short_stands_on_the_card_if_it_is_stored(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire, requests: int
) -> None:
    await publish(store, make_article(), "domain evil.example")
    wire.requests_left = requests
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(wired_store.votes.put(Vote(VOTED, "account", "", hour(1))), 60)
        wire.requests_left = 0
        await wired_store.ping()
    votes = (await store.votes.counts([VOTED])).get(VOTED, 0)
    assert [card.false_positives for card in (await store.iocs.find_cards(IocQuery())).items] == [votes]
    assert (await store.iocs.get_cards([VOTED]))[VOTED].false_positives == votes


async def test_a_page_of_cards_and_cards_of_known_ids_are_one_request_each(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    await publish(store, make_article(), "domain evil.example", "ip 192.0.2.1")
    await store.votes.put(Vote(VOTED, "account", "", hour(1)))
    page = await wired_store.iocs.find_cards(IocQuery())
    assert (len(page.items), len(wire.heads)) == (2, 1)
    assert (await wired_store.iocs.find_cards(IocQuery(ids=(VOTED,)))).items == page.items[:1]
    assert len(wire.heads) == 2


async def test_lists_that_are_asked_for_at_the_same_time_are_one_request(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    await publish(store, make_article(), "domain evil.example", "ip 192.0.2.1")
    asked = [
        IocQuery(),
        IocQuery(limit=1),
        IocQuery(),
        IocQuery(filter=IocFilter(types=("ip",))),
        IocQuery(sort="sources"),
        IocQuery(limit=1),
    ]
    alone = [await store.iocs.find_cards(query) for query in asked]
    assert await asyncio.gather(*map(wired_store.iocs.find_cards, asked)) == alone
    assert [(len(page.items), page.total, page.next is None) for page in alone[:4]] == [
        (2, 2, True),
        (1, 2, False),
        (2, 2, True),
        (1, 1, True),
    ]
    assert len(wire.heads) == 1
