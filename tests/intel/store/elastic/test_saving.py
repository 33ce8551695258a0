"""Savers that are killed halfway, and what the indices hold."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from intel.errors import StoreUnavailable
from intel.records import Article, Sighting
from intel.store.elastic.store import ElasticStore
from intel.store.port import Entry
from intel.words import encode_word
from tests.contract.store.builders import hour, id_of, listed, make_article, publish, search, seen, the_ioc
from tests.intel.store.elastic.wire import Wire

pytestmark = pytest.mark.asyncio

OLD = make_article("report", at=1, source="Agency", title="Before", cluster="one")
NEW = make_article("report", at=9, source="Other", title="After", cluster="two")
MATE = make_article("mate", at=3, source="Paper", cluster="one")
LATER_MATE = make_article("later", at=11, source="Portal", cluster="two")
TOGETHER = [
    Entry(one, seen("domain kept.example", f"domain {n}.example"), [one.url or ""])
    for n, one in enumerate((OLD, MATE, LATER_MATE))
]


async def state(store: ElasticStore) -> dict[str, object]:
    """Everything that readers see of the articles above."""
    iocs = dict.fromkeys(await listed(store))
    sightings = [one async for one in store.articles.seen_between(hour(-100), hour(100))]
    indicators = [await the_ioc(store, f"domain {value}") for value in iocs]
    articles = [await store.articles.get(article.id) for article in (OLD, MATE, LATER_MATE)]
    found = [await search(store, q) for q in ("before", "after", "kept.example", "gone.example", "new.example")]
    basis = await store.articles.basis(hour(-100), hour(100))
    return {"iocs": indicators, "sightings": sightings, "articles": articles, "found": found, "basis": basis}


async def publish_before(store: ElasticStore) -> None:
    await publish(store, MATE, "domain kept.example", "domain mate.example")
    await publish(store, LATER_MATE, "domain kept.example")
    await publish(store, OLD, "domain kept.example", "domain gone.example")


async def publish_again(store: ElasticStore) -> Article:
    return await publish(store, NEW, "domain kept.example", "domain new.example")


@pytest.fixture
async def expected(store: ElasticStore) -> dict[str, object]:
    """The state that no interruption may change in the end."""
    await publish_before(store)
    await publish_again(store)
    return await state(store)


@pytest.mark.parametrize("requests", range(1, 42, 4))
async def test_a_saver_killed_anywhere_is_made_up_for_by_the_next(
    expected: dict[str, object], store: ElasticStore, wired_store: ElasticStore, wire: Wire, requests: int
) -> None:
    await publish_before(store)
    wire.requests_left = requests
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(publish_again(wired_store), 60)
        wire.requests_left = 0
        await wired_store.ping()
    await publish_again(store)
    assert await state(store) == expected


@pytest.mark.parametrize("requests", range(1, 14, 3))
async def test_a_new_article_whose_saver_is_killed_is_not_there_until_it_is_whole(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire, requests: int
) -> None:
    wire.requests_left = requests
    with pytest.raises(StoreUnavailable):
        await publish(wired_store, OLD, "domain kept.example")
        wire.requests_left = 0
        await wired_store.ping()
    article = await store.articles.get(OLD.id)
    if article is not None:
        assert (await the_ioc(store, "domain kept.example")).sightings == 1
    if await store.articles.id_of(OLD.url or ""):
        assert article is not None
    await publish(store, OLD, "domain kept.example")
    assert await store.articles.id_of(OLD.url or "") == OLD.id
    found = await the_ioc(store, "domain kept.example")
    assert (found.sightings, found.sources, await listed(store)) == (1, 1, ["kept.example"])


@pytest.mark.parametrize("requests", range(1, 18, 4))
async def test_articles_whose_common_saver_is_killed_are_counted_once_by_the_next(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire, requests: int
) -> None:
    wire.requests_left = requests
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(wired_store.articles.save_many(TOGETHER), 60)
        wire.requests_left = 0
        await wired_store.ping()
    await store.articles.save_many(TOGETHER)
    found = await the_ioc(store, "domain kept.example")
    assert (found.sightings, found.sources, found.last_seen) == (3, 2, hour(11))
    assert sorted(await listed(store)) == ["0.example", "1.example", "2.example", "kept.example"]
    assert [await store.articles.id_of(one.article.url or "") for one in TOGETHER] == [o.article.id for o in TOGETHER]


async def test_many_articles_are_saved_by_as_many_requests_as_few(wired_store: ElasticStore, wire: Wire) -> None:
    entries = [Entry(make_article(f"a{n}"), seen(f"domain {n}.example", "ip 192.0.2.1"), [f"x{n}"]) for n in range(60)]
    asked = []
    for some in (entries[:2], entries[2:]):
        wire.heads.clear()
        await wired_store.articles.save_many(some)
        asked.append(len(wire.heads))
    assert asked[1] <= asked[0] + 3
    assert (await the_ioc(wired_store, "ip 192.0.2.1")).sightings == 60


async def test_many_sources_are_counted_exactly(store: ElasticStore) -> None:
    articles = [make_article(f"a{n}", at=n, source=f"Source {n}", cluster=f"c{n // 2}") for n in range(104)]
    gate = asyncio.Semaphore(8)

    async def publish_one(article: Article) -> None:
        async with gate:
            await publish(store, article, "domain evil.example")

    await asyncio.gather(*map(publish_one, articles))
    found = await the_ioc(store, "domain evil.example")
    assert (found.sightings, found.sources) == (104, 52)
    assert await listed(store, source="Source 0") == await listed(store, source="Source 103") == ["evil.example"]
    assert await listed(store, source="Source 104") == []


async def test_the_alias_holds_the_records_of_the_contract(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    beside = Sighting("domain", "evil.example", "Seen there.", ("Emotet",))
    await publish(store, make_article(at=4, title="Title"), beside)
    url = f"{elasticsearch_url}/{index_prefix}iocs"
    async with httpx.AsyncClient(timeout=30) as client:
        exact = {"query": {"bool": {"filter": [{"term": {"type": "domain"}}, {"term": {"value": "evil.example"}}]}}}
        hits = (await client.post(f"{url}/_search", json=exact)).json()["hits"]["hits"]
        mappings: dict[str, Any] = (await client.get(f"{url}/_mapping")).json()
    source = hits[0]["_source"]
    assert (len(hits), hits[0]["_id"], source["id"]) == (1, id_of("domain evil.example"), id_of("domain evil.example"))
    assert (source["last_seen"], source["sightings"], source["sources"]) == ("2026-11-16T13:00:00.000Z", 1, 1)
    assert (source["article"]["title"], source["malware"], source["context"]) == ("Title", ["Emotet"], "Seen there.")
    (mapping,) = (index["mappings"] for index in mappings.values())
    types = {name: mapping["properties"][name]["type"] for name in ("type", "value", "last_seen")}
    assert (mapping["dynamic"], types) == ("strict", {"type": "keyword", "value": "keyword", "last_seen": "date"})


async def test_every_encoded_word_is_one_token(store: ElasticStore, elasticsearch_url: str, index_prefix: str) -> None:
    tokens = [encode_word(word) for word in ("evil", "über", "é", "вред", "新", "12é", "a" * 240, "0", "é9")]
    body = {"field": "words", "text": " ".join(tokens)}
    async with httpx.AsyncClient(timeout=30) as client:
        answer = (await client.post(f"{elasticsearch_url}/{index_prefix}iocs/_analyze", json=body)).json()
    assert [token["token"] for token in answer["tokens"]] == tokens
