"""Indices that the former version made, with its documents in them: this version goes on with them as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
import pytest_asyncio

from ingest.revisions import Revisions
from intel.cards import card_of
from intel.query import ArticleQuery, IocQuery
from intel.records import Account, Article, Catalogue, Reading, Session, Sighting, Vote
from intel.store.elastic.cards import stored_card
from intel.store.elastic.store import ElasticStore
from search_mappings import elasticsearch_indices
from tests.contract.store.builders import hour, id_of, listed, make_article, make_submission, publish, search, the_ioc
from tests.intel.store.elastic.conftest import store_at
from tests.intel.store.elastic.wire import Wire, wire_to

pytestmark = pytest.mark.asyncio

# What this version has and the former one had not.
NEW_NOUNS = ("readings", "catalogues", "catalogue_parts", "votes", "malware_names")
NEW_FIELDS = {
    "articles": ("ioc_dropped", "revision", "findings"),
    "submissions": ("ioc_dropped", "again", "put_off"),
    "sessions": ("nonce",),
    "accounts": ("role",),
    "iocs": ("card", "false_positives", "folded", "added_at", "changed_at", "added_number", "change_number", "removed"),
    "leases": ("number", "closed", "changed_at", "batch"),
}
SESSION = Session("session-one", "account-one", 1, hour(0), hour(0), hour(500), "Browser")
SEEN = Sighting("domain", "evil.example", "It used evil.example.", ("Emotet",), 0)
OPENED_AT_ONCE = 4


async def make_former(client: httpx.AsyncClient, prefix: str, noun: str, definition: dict[str, Any]) -> None:
    """Puts what an index holds into one as the former version made it."""
    index, new = f"{prefix}{noun}-ioc-v1", NEW_FIELDS.get(noun, ())
    await client.post(f"/{index}/_refresh")
    hits = (await client.post(f"/{index}/_search", json={"size": 1_000})).json()["hits"]["hits"]
    (await client.delete(f"/{index}")).raise_for_status()
    if noun in NEW_NOUNS:
        return
    for name in new:
        del definition["mappings"]["properties"][name]
    (await client.put(f"/{index}", json={**definition, "aliases": {f"{prefix}{noun}": {}}})).raise_for_status()
    for hit in hits:
        document = {name: value for name, value in hit["_source"].items() if name not in new}
        stored = await client.put(f"/{index}/_doc/{hit['_id']}", params={"refresh": "true"}, json=document)
        stored.raise_for_status()


@pytest_asyncio.fixture
async def article(store: ElasticStore, elasticsearch_url: str, index_prefix: str) -> Article:
    """An article that the former version stored, beside a submission and a session."""
    article = await store.articles.save(make_article(), [SEEN], ["https://news.example/report"])
    await store.submissions.add(make_submission())
    await store.accounts.put_session(SESSION)
    for name, at in (("later", 2), ("first", 1)):
        await store.accounts.create(Account(f"account-{name}", f"{name}@site.example", "hash", hour(at)))
    async with httpx.AsyncClient(base_url=elasticsearch_url, timeout=30) as client:
        former = (make_former(client, index_prefix, *index) for index in elasticsearch_indices().items())
        await asyncio.gather(*former)
    await forget_who_was_first(elasticsearch_url, index_prefix)
    return article


async def forget_who_was_first(url: str, prefix: str) -> None:
    """The former version appointed nobody."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        (await client.delete(f"/{prefix}leases/_doc/first-administrator?refresh=true")).raise_for_status()


async def mappings(url: str, prefix: str) -> dict[str, Any]:
    """Each noun's fields as the server tells them."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        answer = (await client.get(f"/{prefix}*/_mapping")).raise_for_status().json()
    return {name.removeprefix(prefix).partition("-ioc-v")[0]: held["mappings"] for name, held in answer.items()}


async def test_what_the_former_version_stored_reads_as_before(article: Article, store: ElasticStore) -> None:
    await store.setup()
    assert await store.articles.get(article.id) == article
    assert (article.ioc_dropped, article.revision, article.findings) == (0, 1, {})
    assert (await store.articles.find(ArticleQuery())).items == (replace(article, text=None),)
    (outline,) = await Revisions(store).of(article)
    assert (outline.revision, outline.iocs) == (1, (("domain", "evil.example"),))
    assert await store.articles.texts([article.id]) == {article.id: article.text}
    assert [seen.malware async for seen in store.articles.seen_between(hour(-1), hour(1))] == [("Emotet",)]
    assert (await store.iocs.facets(IocQuery())).types == {"domain": 1}
    assert [one async for one in store.submissions.all_of("account-1")] == [make_submission()]
    assert await store.accounts.sessions("account-one") == (SESSION,)


async def test_cards_and_malware_names_are_told_though_the_former_version_did_not_store_them(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(store, make_article(), SEEN, "malware Emotet")
    await forget(elasticsearch_url, index_prefix, ("card", "false_positives", "folded"))
    await publish(store, make_article("new", at=1), "malware Lumma")
    await store.votes.put(Vote(id_of("domain evil.example"), "account", "note", hour(1)))
    for _ in range(2):
        cards = (await store.iocs.find_cards(IocQuery())).items
        records = (await store.iocs.find(IocQuery())).items
        assert cards == tuple(card_of(ioc, int(ioc.type == "domain")) for ioc in records)
        assert await store.iocs.get_cards([card.id for card in cards]) == {card.id: card for card in cards}
        spellings = await store.iocs.malware_named(["emotet", "lumma"])
        assert spellings == {"emotet": ("Emotet",), "lumma": ("Lumma",)}
        await store.reindex(lambda what, done, total: None)
    documents = await stored(elasticsearch_url, index_prefix)
    assert documents == [document for document in documents if stored_card(document)]


async def forget(url: str, prefix: str, names: Sequence[str]) -> None:
    """Leaves of each indicator what the former version stored."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        for document in await stored(url, prefix):
            former = {name: value for name, value in document.items() if name not in names}
            place = f"/{prefix}iocs/_doc/{document['id']}"
            (await client.put(place, params={"refresh": "true"}, json=former)).raise_for_status()


async def stored(url: str, prefix: str) -> list[dict[str, Any]]:
    """The documents of all indicators."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        found = await client.post(f"/{prefix}iocs/_search", json={"size": 1_000})
        return [hit["_source"] for hit in found.raise_for_status().json()["hits"]["hits"]]


async def test_the_earliest_account_becomes_the_administrator(article: Article, store: ElasticStore) -> None:
    await store.setup()
    await store.setup()
    roles = {account.id: account.role for account in await store.accounts.all()}
    assert roles == {"account-first": "administrator", "account-later": "submitter"}


async def test_this_version_writes_to_the_indices_of_the_former_one(article: Article, store: ElasticStore) -> None:
    await store.setup()
    changed = replace(article, revision=2, ioc_dropped=3, findings={"CVE-2026-1": {"exploitation": "poc"}})
    assert await publish(store, changed, "ip 192.0.2.1") == replace(changed, ioc_counts={"ip": 1})
    assert await store.articles.get(article.id) == replace(changed, ioc_counts={"ip": 1})
    taken = await store.submissions.claim("submission-one", hour(1), hour(2))
    assert taken is not None
    assert await store.submissions.update(replace(taken, status="done", ioc_dropped=3, again=True, put_off=2))
    assert await store.accounts.touch_session(SESSION.id, hour(1))
    assert await store.accounts.get_session(SESSION.id) == replace(SESSION, last_used_at=hour(1))
    await use_new_nouns(store)


async def use_new_nouns(store: ElasticStore) -> None:
    """Writes to each of what the former version did not know, and reads it back."""
    reading = Reading("article", 1, hour(1), "Title", (("domain", "evil.example"),), "text", ({"kept": True},))
    await store.readings.put(reading)
    assert await store.readings.get("article", 1) == reading
    await store.catalogues.put(Catalogue("exploited", hour(1), hour(2), "https://lists.example", 1), {"a": b"1"})
    assert await store.catalogues.parts("exploited", ["a"]) == {"a": b"1"}
    await store.votes.put(Vote("ioc", "account", "note", hour(1)))
    assert await store.votes.counts(["ioc"]) == {"ioc": 1}


async def test_several_processes_upgrade_at_once(article: Article, elasticsearch_url: str, index_prefix: str) -> None:
    stores = [store_at(elasticsearch_url, index_prefix) for _ in range(OPENED_AT_ONCE)]
    await asyncio.gather(*(store.setup() for store in stores))
    for store in stores:
        await store.accounts.touch_session(SESSION.id, hour(1))
        await use_new_nouns(store)
        assert await listed(store) == ["evil.example"]
        await store.close()
    found = await mappings(elasticsearch_url, index_prefix)
    assert found.keys() == elasticsearch_indices().keys()
    for noun, definition in elasticsearch_indices().items():
        assert found[noun]["dynamic"] == "strict"
        assert found[noun]["properties"].keys() == definition["mappings"]["properties"].keys()


async def test_a_later_set_up_changes_nothing(
    article: Article, store: ElasticStore, elasticsearch_url: str, index_prefix: str, wire: Wire
) -> None:
    await store.setup()
    before = await mappings(elasticsearch_url, index_prefix)
    again = store_at(wire.url, index_prefix)
    await again.setup()
    await again.close()
    assert wire.heads and not [head for head in wire.heads if head.startswith("PUT")]
    assert await mappings(elasticsearch_url, index_prefix) == before


async def test_rebuilding_after_an_upgrade_keeps_everything(article: Article, store: ElasticStore) -> None:
    await store.setup()
    await publish(store, replace(make_article("new", at=1), revision=3, findings={"CVE-2026-1": {}}), SEEN)
    await use_new_nouns(store)
    told: set[str] = set()
    await store.reindex(lambda what, done, total: told.add(what))
    assert told >= set(NEW_NOUNS)
    assert await store.articles.get(article.id) == article
    new = await store.articles.get(make_article("new").id)
    assert new is not None and (new.revision, new.findings) == (3, {"CVE-2026-1": {}})
    assert await search(store, "emotet") == ["evil.example"]
    assert (await the_ioc(store, "domain evil.example")).sightings == 2
    assert [one async for one in store.submissions.all_of("account-1")] == [make_submission()]
    assert await store.accounts.touch_session(SESSION.id, hour(1))
    assert await store.catalogues.parts("exploited", ["a"]) == {"a": b"1"}
    assert await store.votes.counts(["ioc"]) == {"ioc": 1}
    assert [reading.revision for reading in await store.readings.of("article")] == [1]
    await use_new_nouns(store)


async def test_an_upgrade_that_was_cut_short_is_made_good_by_the_next_start(
    article: Article, elasticsearch_url: str, index_prefix: str
) -> None:
    for requests in range(1, 12):
        async with wire_to(elasticsearch_url) as wire:
            wire.requests_left = requests
            killed = store_at(wire.url, index_prefix)
            await asyncio.gather(killed.setup(), return_exceptions=True)
            await killed.close()
    store = store_at(elasticsearch_url, index_prefix)
    await store.setup()
    await use_new_nouns(store)
    assert await store.articles.get(article.id) == article
    await store.close()
