"""The Traffic Light Protocol: kept with an article, and the strictest of its articles with an indicator."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from intel.cards import card_of
from intel.query import ArticleQuery, ChangeQuery, IocFilter
from intel.records import Article
from intel.store.port import Entry, Store
from intel.tlp import Tlp
from tests.contract.store.builders import listed, make_article, publish, query, search, seen, the_ioc


def marked(name: str, tlp: Tlp | None, *, at: float = 0) -> Article:
    return replace(make_article(name, at=at, title=name), tlp=tlp)


async def articles_of(store: Store, *tlps: Tlp) -> list[str]:
    page = await store.articles.find(ArticleQuery(tlps=tlps))
    assert page.total == len(page.items)
    return [article.title for article in page.items]


@pytest.mark.promise("tlp.strictest")
async def test_an_indicator_has_the_strictest_tlp_of_its_articles(store: Store) -> None:
    await publish(store, marked("a", None), "domain evil.example", "domain other.example")
    assert (await the_ioc(store, "domain evil.example")).tlp is None
    await publish(store, marked("b", "amber", at=1), "domain evil.example")
    await publish(store, marked("c", "clear", at=2), "domain evil.example", "domain other.example")
    assert (await the_ioc(store, "domain evil.example")).tlp == "amber"
    assert (await the_ioc(store, "domain other.example")).tlp == "clear"
    (card,) = (await store.iocs.find_cards(query(tlps=("amber",)))).items
    assert card == card_of(await the_ioc(store, "domain evil.example"), 0)
    assert b'"tlp":"amber"' in card.json
    await store.reindex(lambda *_: None)
    assert (await the_ioc(store, "domain evil.example")).tlp == "amber"
    assert await store.articles.remove(marked("b", None).id)
    assert (await the_ioc(store, "domain evil.example")).tlp == "clear"
    assert await listed(store, tlps=("amber",)) == []


@pytest.mark.promise("tlp.strictest")
async def test_what_hundreds_of_articles_name_has_the_strictest_tlp_of_all_of_them(store: Store) -> None:
    articles = [marked(f"n{number}", "green" if number == 2 else None, at=number) for number in range(210)]
    await store.articles.save_many([Entry(article, seen("domain evil.example")) for article in articles])
    await publish(store, marked("last", None, at=300), "domain evil.example")
    evil = await the_ioc(store, "domain evil.example")
    assert (evil.tlp, evil.sightings) == ("green", 211)


@pytest.mark.promise("tlp.kept")
async def test_a_changed_tlp_is_a_change_of_its_indicators_and_of_no_others(store: Store) -> None:
    await publish(store, marked("a", "green"), "domain evil.example")
    await publish(store, marked("b", None), "domain other.example")
    followed = (await store.iocs.changes(ChangeQuery())).next
    await publish(store, marked("a", "amber"), "domain evil.example")
    await publish(store, marked("b", None), "domain other.example")
    page = await store.iocs.changes(ChangeQuery(after=followed))
    assert [(change.event, change.value, change.ioc and change.ioc.tlp) for change in page.items] == [
        ("changed", "evil.example", "amber")
    ]
    stored = await store.articles.get(marked("a", None).id)
    assert stored is not None
    assert stored.tlp == "amber"


@pytest.mark.promise("tlp.found")
async def test_articles_and_indicators_are_found_by_their_tlp(store: Store) -> None:
    await publish(store, marked("a", "clear"), "domain evil.example", "ip 192.0.2.1")
    await publish(store, marked("b", "amber", at=1), "domain other.example", "ip 192.0.2.1")
    await publish(store, marked("c", None, at=2), "domain third.example")
    assert await articles_of(store, "amber", "clear") == ["b", "a"]
    assert await articles_of(store, "green") == []
    assert sorted(await listed(store, tlps=("amber",))) == ["192.0.2.1", "other.example"]
    assert await listed(store, tlps=("clear",)) == ["evil.example"]
    assert await listed(store, tlps=("amber", "clear"), type="ip") == ["192.0.2.1"]
    assert await search(store, "evil", tlps=("clear",)) == ["evil.example"]
    assert await search(store, "evil", tlps=("amber",)) == []
    assert (await store.iocs.facets(query(tlps=("amber",)))).types == {"domain": 1, "ip": 1}
    page = await store.iocs.changes(ChangeQuery(filter=IocFilter(tlps=("clear",))))
    assert [change.value for change in page.items] == ["evil.example"]


@pytest.mark.promise("tlp.kept")
async def test_a_saved_article_becomes_stricter_by_being_saved_again_and_less_strict_by_a_change_alone(
    store: Store,
) -> None:
    amber, unmarked = marked("a", "amber"), marked("a", None)
    assert await store.articles.change_tlp(amber.id, "clear") is None
    await publish(store, amber, "domain evil.example")
    await publish(store, unmarked, "domain evil.example", "domain other.example")
    assert {(await the_ioc(store, f"domain {name}.example")).tlp for name in ("evil", "other")} == {"amber"}
    before = await store.articles.change_tlp(amber.id, None)
    assert before is not None and before.tlp == "amber"
    await publish(store, unmarked, "domain evil.example", "domain other.example")
    assert (await the_ioc(store, "domain evil.example")).tlp is None
    stored = await store.articles.get(amber.id)
    assert stored is not None and (stored.tlp, stored.text, stored.ioc_count) == (None, unmarked.text, 2)
    await publish(store, amber, "domain evil.example", "domain other.example")
    assert (await the_ioc(store, "domain other.example")).tlp == "amber"


@pytest.mark.promise("tlp.kept")
@pytest.mark.parametrize("after", [None, "clear", "amber"])
async def test_a_change_beside_a_save_loses_neither(store: Store, after: Tlp | None) -> None:
    await publish(store, marked("a", "green"), "domain evil.example")
    for number in range(8):
        again = replace(marked("a", None), text=f"Reading {number}", revision=number + 2)
        changing = store.articles.change_tlp(again.id, after if number % 2 else "green")
        await asyncio.gather(publish(store, again, "domain evil.example", f"domain n{number}.example"), changing)
        stored = await store.articles.get(again.id)
        assert stored is not None
        wanted = after if number % 2 else "green"
        assert (stored.tlp, stored.text, stored.revision) == (wanted, again.text, again.revision)
        assert {(await the_ioc(store, f"domain {name}.example")).tlp for name in ("evil", f"n{number}")} == {wanted}
