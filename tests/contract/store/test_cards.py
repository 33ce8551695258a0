"""Cards give what records give, with the votes on them, from lists, searches and reads by id."""

from __future__ import annotations

import pytest

from intel.cards import card_of
from intel.query import IocQuery
from intel.records import Vote
from intel.store.port import Store
from tests.contract.store.builders import hour, id_of, query
from tests.contract.store.corpus import make_corpus

SEARCHES = (None, "evil", "evil corp", "emotet evil*", "198.51.0.0/16", "evil.example", "??")


async def fill(store: Store) -> None:
    for saved in make_corpus():
        await store.articles.save(saved.article, saved.sightings, [saved.article.url or ""])
    for account in ("account-a", "account-b"):
        await store.votes.put(Vote(id_of("domain evil.example"), account, "", hour(1)))


async def test_cards_are_found_as_records_are_with_the_votes_on_them(store: Store) -> None:
    await fill(store)
    for text in SEARCHES:
        asked: IocQuery | None = query(text, limit=7)
        while asked is not None:
            records, cards = await store.iocs.find(asked), await store.iocs.find_cards(asked)
            votes = await store.votes.counts([ioc.id for ioc in records.items])
            assert cards.items == tuple(card_of(ioc, votes.get(ioc.id, 0)) for ioc in records.items), text
            assert (cards.total, cards.next) == (records.total, records.next)
            asked = query(text, limit=7, after=cards.next) if cards.next else None


async def test_cards_are_read_by_id_and_unknown_ids_are_left_out(store: Store) -> None:
    await fill(store)
    every = [ioc.id for ioc in (await store.iocs.find(IocQuery(limit=1000))).items]
    asked = [*every, "unknown", every[0]]
    votes = await store.votes.counts(every)
    records = await store.iocs.get_many(asked)
    assert await store.iocs.get_cards(asked) == {id: card_of(ioc, votes.get(id, 0)) for id, ioc in records.items()}
    assert votes == {id_of("domain evil.example"): 2}


@pytest.mark.parametrize("names", [[], ["nothing like it"], ["??"]])
async def test_names_that_no_stored_malware_has_are_left_out(store: Store, names: list[str]) -> None:
    await fill(store)
    assert await store.iocs.malware_named(names) == {}
