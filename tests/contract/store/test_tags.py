"""Tags: kept by the record, whatever happens to its articles, and found by filters."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime

import pytest

from intel.cards import card_of
from intel.errors import InvalidQuery
from intel.query import ArticleQuery, ChangePosition, ChangeQuery, IocFilter, IocQuery
from intel.store.port import Store
from tests.contract.store.builders import hour, id_of, listed, make_article, publish, query, search, the_ioc

EVIL, OTHER = id_of("domain evil.example"), id_of("domain other.example")


async def tagged_articles(store: Store, *tags: str) -> list[str]:
    page = await store.articles.find(ArticleQuery(tags=tags))
    assert page.total == len(page.items)
    return [article.title for article in page.items]


async def test_tags_are_added_and_removed_and_stand_in_order(store: Store, other_store: Store) -> None:
    await publish(store, make_article(), "domain evil.example", "domain other.example")
    assert await store.tags.change("ioc", EVIL, ["c2", "apt:kestrel", "c2"]) == ("apt:kestrel", "c2")
    assert await other_store.tags.change("ioc", EVIL, ["seen=1", "c2"], ["apt:kestrel", "nothing"]) == ("c2", "seen=1")
    assert (await the_ioc(store, "domain evil.example")).tags == ("c2", "seen=1")
    assert await store.tags.change("ioc", EVIL, []) == ("c2", "seen=1")
    assert (await the_ioc(store, "domain other.example")).tags == ()
    assert await store.tags.change("ioc", id_of("domain unknown.example"), ["c2"]) is None
    assert await store.tags.change("ioc", "unknown", ["c2"]) is None
    assert await store.tags.change("ioc", EVIL, [], ["c2", "seen=1"]) == ()
    assert (await the_ioc(store, "domain evil.example")).tags == ()


async def test_a_record_has_no_more_tags_than_it_may(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example")
    for kind, id in (("ioc", EVIL), ("article", make_article().id)):
        many = tuple(f"t{number:02}" for number in range(20))
        assert await store.tags.change(kind, id, many) == many  # type: ignore[arg-type]  # one of both kinds
        with pytest.raises(InvalidQuery):
            await store.tags.change(kind, id, ["one-more"])  # type: ignore[arg-type]  # one of both kinds
        changed = await store.tags.change(kind, id, ["zz"], ["t00"])  # type: ignore[arg-type]  # one of both kinds
        assert changed == (*many[1:], "zz")


@pytest.mark.promise("tags.found", "tags.kept")
async def test_a_tag_finds_indicators_in_lists_searches_and_changes(store: Store) -> None:
    await publish(store, make_article(at=1), "domain evil.example", "domain other.example", "ip 192.0.2.1")
    await store.tags.change("ioc", EVIL, ["c2"])
    await store.tags.change("ioc", OTHER, ["c2", "kestrel"])
    assert await listed(store, tags=("c2",)) == await listed(store, tags=("c2", "kestrel"))
    assert sorted(await listed(store, tags=("c2",))) == ["evil.example", "other.example"]
    assert await listed(store, tags=("kestrel",), type="domain") == ["other.example"]
    assert await listed(store, tags=("kestrel",), type="ip") == []
    assert await listed(store, tags=("kestrel",), source="Example Blog") == ["other.example"]
    assert await listed(store, tags=("C2",)) == []
    assert await search(store, "evil", tags=("c2",)) == ["evil.example"]
    assert await search(store, "evil", tags=("kestrel",)) == []
    assert (await store.iocs.facets(query(tags=("c2",)))).types == {"domain": 2}
    page = await store.iocs.changes(ChangeQuery(filter=IocFilter(tags=("kestrel",))))
    assert [change.value for change in page.items] == ["other.example"]
    cards = (await store.iocs.find_cards(query(tags=("c2",)))).items
    assert cards == tuple(card_of(ioc, 0) for ioc in (await store.iocs.find(query(tags=("c2",)))).items)
    assert b'"tags":["c2","kestrel"]' in next(card for card in cards if card.id == OTHER).json


@pytest.mark.promise("tags.change")
async def test_a_tagged_indicator_counts_as_changed_and_the_same_tags_again_do_not(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example", "domain other.example")
    followed = (await store.iocs.changes(ChangeQuery())).next
    before = await the_ioc(store, "domain evil.example")
    await store.tags.change("ioc", EVIL, ["c2"])
    page = await store.iocs.changes(ChangeQuery(after=followed))
    assert [(change.event, change.value) for change in page.items] == [("changed", "evil.example")]
    (told,) = page.items
    assert told.ioc is not None
    assert told.ioc.tags == ("c2",)
    after = await the_ioc(store, "domain evil.example")
    assert (after.changed_at > before.changed_at, after.added_at) == (True, before.added_at)
    await store.tags.change("ioc", EVIL, ["c2"])
    assert (await store.iocs.changes(ChangeQuery(after=page.next))).items == ()
    assert (await store.iocs.changes(ChangeQuery(after=ChangePosition()))).items[-1].value == "evil.example"


@pytest.mark.promise("tags.kept")
async def test_tags_stay_when_articles_are_read_again_and_go_with_the_record(store: Store) -> None:
    article = make_article()
    await publish(store, article, "domain evil.example")
    await store.tags.change("ioc", EVIL, ["c2"])
    await store.tags.change("article", article.id, ["campaign"])
    await publish(store, replace(article, text="Otherwise.", revision=2), "domain evil.example", "domain other.example")
    await publish(store, make_article("second", at=3, source="B"), "domain evil.example")
    assert await listed(store, tags=("c2",)) == ["evil.example"]
    assert (await the_ioc(store, "domain evil.example")).sources == 2
    assert await tagged_articles(store, "campaign") == ["A loader report"]
    (card,) = (await store.iocs.find_cards(query(tags=("c2",)))).items
    assert card == card_of(await the_ioc(store, "domain evil.example"), 0)
    await store.reindex(lambda *_: None)
    assert await listed(store, tags=("c2",)) == ["evil.example"]
    assert await tagged_articles(store, "campaign") == ["A loader report"]
    stored = await store.articles.get(article.id)
    assert stored is not None
    assert (stored.tags, stored.text) == (("campaign",), "Otherwise.")
    # Saving what was read back changes nothing.
    await publish(store, stored, "domain evil.example", "domain other.example")
    assert await tagged_articles(store, "campaign") == ["A loader report"]
    assert await store.articles.remove(article.id)
    assert await store.articles.remove(make_article("second").id)
    assert await listed(store, tags=("c2",)) == []
    assert await tagged_articles(store, "campaign") == []
    await publish(store, article, "domain evil.example")
    assert (await the_ioc(store, "domain evil.example")).tags == ()
    assert await tagged_articles(store, "campaign") == []


@pytest.mark.promise("tags.exported")
async def test_an_article_is_annotated_later_with_each_change_of_its_tags_or_tlp_and_with_nothing_else(
    store: Store, other_store: Store
) -> None:
    article = make_article()
    await publish(store, article, "domain evil.example")

    async def annotated_at() -> datetime | None:
        stored = (await store.articles.get_many([article.id]))[article.id]
        whole = await store.articles.get(article.id)
        assert whole is not None and whole.annotated_at == stored.annotated_at
        return stored.annotated_at

    assert await annotated_at() is None
    times = list[datetime | None]()
    for change in (
        store.tags.change("article", article.id, ["b", "a"]),
        other_store.tags.change("article", article.id, ["c"], ["a"]),
        store.articles.change_tlp(article.id, "amber"),
        store.tags.change("article", article.id, [], ["b", "c"]),
        other_store.articles.change_tlp(article.id, None),
    ):
        await change
        times.append(await annotated_at())
    assert None not in times and len(set(times)) == 5
    assert times == sorted(time for time in times if time)
    await store.tags.change("article", article.id, [], ["b"])
    await store.articles.change_tlp(article.id, None)
    await store.tags.change("ioc", EVIL, ["c2"])
    await publish(store, replace(article, text="Otherwise.", revision=2), "domain other.example")
    await store.reindex(lambda *_: None)
    assert await annotated_at() == times[-1]


async def test_articles_are_found_by_tag(store: Store) -> None:
    for number in range(3):
        await publish(store, make_article(f"a{number}", at=number, title=f"Report {number}", source=f"S{number}"))
        assert await store.tags.change("article", make_article(f"a{number}").id, ["all", f"t{number}"])
    assert await tagged_articles(store, "all") == ["Report 2", "Report 1", "Report 0"]
    assert await tagged_articles(store, "t0", "t2", "t9") == ["Report 2", "Report 0"]
    page = await store.articles.find(ArticleQuery(source="S1", tags=("t1", "t2")))
    assert [(one.title, one.tags) for one in page.items] == [("Report 1", ("all", "t1"))]
    assert await store.tags.change("article", "unknown", ["x"]) is None
    assert {one.tags for one in (await store.articles.get_many([make_article("a2").id])).values()} == {("all", "t2")}


async def test_tags_of_many_accounts_at_once_are_all_kept(store: Store, other_store: Store) -> None:
    await publish(store, make_article(at=1), "domain evil.example")
    stores = (store, other_store)
    tags = [f"t{number:02}" for number in range(12)]
    saves = [publish(stores[n % 2], make_article(f"n{n}", at=n + 2), "domain evil.example") for n in range(4)]
    await asyncio.gather(
        *(stores[n % 2].tags.change("ioc", EVIL, [tag]) for n, tag in enumerate(tags)),
        *(stores[n % 2].tags.change("article", make_article().id, [tag]) for n, tag in enumerate(tags)),
        publish(store, make_article(at=1, text="Anew."), "domain evil.example"),
        *saves,
    )
    evil = await the_ioc(store, "domain evil.example")
    assert (evil.tags, evil.sightings) == (tuple(tags), 5)
    (card,) = (await store.iocs.find_cards(IocQuery())).items
    assert card == card_of(evil, 0)
    article = await store.articles.get(make_article().id)
    assert article is not None
    assert (article.tags, article.text, article.published_at) == (tuple(tags), "Anew.", hour(1))
