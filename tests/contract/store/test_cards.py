"""Cards give what records give, with the votes on them, from lists, searches and reads by id."""

from __future__ import annotations

from intel.cards import card_of
from intel.query import IocQuery
from intel.store.port import Store
from tests.cases import each
from tests.contract.store.builders import id_of, make_article, publish, query

SEARCHES = (None, "evil", "evil corp", "emotet evil*", "198.51.0.0/16", "evil.example", "??")


async def test_cards_are_found_as_records_are_with_the_votes_on_them(corpus_store: Store) -> None:
    store = corpus_store
    for text in SEARCHES:
        asked: IocQuery | None = query(text, limit=7)
        while asked is not None:
            records, cards = await store.iocs.find(asked), await store.iocs.find_cards(asked)
            votes = await store.votes.counts([ioc.id for ioc in records.items])
            assert cards.items == tuple(card_of(ioc, votes.get(ioc.id, 0)) for ioc in records.items), text
            assert (cards.total, cards.next) == (records.total, records.next)
            asked = query(text, limit=7, after=cards.next) if cards.next else None


async def test_cards_are_read_by_id_and_unknown_ids_are_left_out(corpus_store: Store) -> None:
    store = corpus_store
    every = [ioc.id for ioc in (await store.iocs.find(IocQuery(limit=1000))).items]
    asked = [*every, "unknown", every[0]]
    votes = await store.votes.counts(every)
    records = await store.iocs.get_many(asked)
    assert await store.iocs.get_cards(asked) == {id: card_of(ioc, votes.get(id, 0)) for id, ioc in records.items()}
    assert await store.iocs.stored(asked) == frozenset(every) and await store.iocs.stored(["unknown"]) == frozenset()
    assert votes == {id_of("domain evil.example"): 2}


@each("names", [[], ["nothing like it"], ["??"]])
async def test_names_that_no_stored_malware_has_are_left_out(corpus_store: Store, names: list[str]) -> None:
    assert await corpus_store.iocs.malware_named(names) == {}


async def test_spellings_of_a_malware_name_are_told_best_first_and_not_once_they_are_gone(store: Store) -> None:
    await publish(store, make_article("one", at=1, source="A"), "malware Agent.btz", "malware AGENT.BTZ")
    await publish(store, make_article("two", at=2, source="B"), "malware AGENT.BTZ", "domain agent.btz")
    last = make_article("three", at=3, source="C")
    await publish(store, last, "malware agent.BTZ")
    named = await store.iocs.malware_named(["agent.btz", "agent"])
    assert named == {"agent.btz": ("AGENT.BTZ", "agent.BTZ", "Agent.btz")}
    await store.articles.remove(last.id)
    assert await store.iocs.malware_named(["agent.btz"]) == {"agent.btz": ("AGENT.BTZ", "Agent.btz")}
