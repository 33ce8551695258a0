"""Lists of indicators: order, filters, totals, and walking from page to page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest_asyncio

from intel.query import IocQuery, Position
from intel.records import Ioc, Mention
from intel.store.port import Store
from intel.times import to_milliseconds
from tests.cases import each
from tests.contract.store.builders import hour, id_of, listed, make_article, publish, query, the_ioc, values


async def walk(store: Store, asked: IocQuery) -> list[Ioc]:
    """Every item from the first page to the last."""
    items: list[Ioc] = []
    while True:
        page = await store.iocs.find(asked)
        items += page.items
        assert (page.total is None) == (asked.after is not None)
        if page.next is None:
            return items
        assert len(page.items) == asked.limit
        asked = replace(asked, after=page.next)


async def test_an_empty_store_lists_nothing(store: Store) -> None:
    page = await store.iocs.find(query())
    assert (page.items, page.total, page.next) == ((), 0, None)


async def test_an_indicator_is_read_back_whole(store: Store) -> None:
    article = make_article("report", at=2, source="Blog", title="Title")
    await publish(store, article, "ip 198.51.100.7", "domain evil.example")
    found = await the_ioc(store, "domain evil.example")
    assert found == Ioc(
        id=id_of("domain evil.example"),
        type="domain",
        value="evil.example",
        first_seen=hour(2),
        last_seen=hour(2),
        sightings=1,
        sources=1,
        context="It used evil.example then.",
        malware=(),
        article=article.ref,
        added_at=found.added_at,
        changed_at=found.changed_at,
    )


async def test_a_list_is_newest_first_and_ties_go_by_id(store: Store) -> None:
    await publish(store, make_article("old", at=1), "domain a.example")
    await publish(store, make_article("new", at=3), "domain b.example", "domain c.example", "ip 192.0.2.1")
    await publish(store, make_article("middle", at=2), "domain d.example")
    tied = sorted(("domain b.example", "domain c.example", "ip 192.0.2.1"), key=id_of)
    expected = [indicator.partition(" ")[2] for indicator in tied] + ["d.example", "a.example"]
    assert await listed(store) == expected


async def test_an_article_without_a_date_counts_from_when_it_was_fetched(store: Store) -> None:
    article = replace(make_article(), published_at=None, fetched_at=hour(7))
    await publish(store, article, "domain evil.example")
    found = await the_ioc(store, "domain evil.example")
    assert (found.first_seen, found.last_seen, found.article) == (hour(7), hour(7), article.ref)


async def test_a_type_restricts_list_and_total(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example", "ip 192.0.2.1", "url http://a.example/")
    await publish(store, make_article("b", at=2), "domain b.example")
    assert await listed(store, type="domain") == ["b.example", "a.example"]
    assert await listed(store, type="email") == []


async def test_ids_restrict_a_list(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example", "domain b.example")
    await publish(store, make_article("b", at=2), "domain c.example")
    wanted = (id_of("domain a.example"), id_of("domain c.example"), id_of("domain unknown.example"))
    assert await listed(store, ids=wanted) == ["c.example", "a.example"]
    assert await listed(store, ids=wanted, type="ip") == []
    assert await listed(store, ids=()) == []


async def test_since_and_until_include_their_moments(store: Store) -> None:
    for name, at in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
        await publish(store, make_article(name, at=at), f"domain {name}.example")
    assert await listed(store, since=hour(2)) == ["c.example", "b.example"]
    assert await listed(store, until=hour(2)) == ["b.example", "a.example"]
    assert await listed(store, since=hour(2), until=hour(2), type="domain") == ["b.example"]
    assert await listed(store, since=hour(3.001)) == []
    assert await listed(store, until=hour(0.999)) == []


async def test_since_and_until_bound_the_last_sighting_only(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain evil.example")
    await publish(store, make_article("b", at=9), "domain evil.example")
    assert await listed(store, until=hour(5)) == []
    assert await listed(store, since=hour(5)) == ["evil.example"]


async def test_a_source_is_any_of_its_articles_sources_exactly(store: Store) -> None:
    await publish(store, make_article("a", at=1, source="Blog"), "domain a.example", "ip 192.0.2.1")
    await publish(store, make_article("b", at=2, source="Other"), "domain a.example", "domain b.example")
    await publish(store, make_article("c", at=3, source="blog"), "domain c.example")
    assert await listed(store, source="Blog", type="domain") == ["a.example"]
    assert set(await listed(store, source="Blog")) == {"a.example", "192.0.2.1"}
    assert set(await listed(store, source="Other")) == {"a.example", "b.example"}
    assert await listed(store, source="Blog", since=hour(2)) == ["a.example"]
    assert await listed(store, source="Blo") == []
    assert await listed(store, source="Blog OR Other") == []


async def test_the_source_of_a_syndicated_copy_is_its_own(store: Store) -> None:
    await publish(store, make_article("a", at=1, source="Agency", cluster="one"), "domain evil.example")
    await publish(store, make_article("b", at=2, source="Paper", cluster="one"), "domain evil.example")
    assert await listed(store, source="Paper") == ["evil.example"]
    assert await listed(store, source="Agency") == ["evil.example"]


@pytest_asyncio.fixture
async def walked(store: Store) -> Store:
    """Eight articles of two sources, of which each two stand at one moment."""
    for n in range(8):
        source = "Even" if n % 2 == 0 else "Odd"
        indicators = [f"domain d{n}-{m}.example" for m in range(5)] + [f"ip 192.0.2.{n}"]
        await publish(store, make_article(f"a{n}", at=n // 2 * 2, source=source), *indicators)
    return store


@each(
    "restriction",
    [
        {},
        {"type": "domain"},
        {"source": "Even"},
        {"source": "Even", "type": "domain"},
        {"since": hour(2), "until": hour(5)},
    ],
    ids=str,
)
async def test_a_walk_meets_every_indicator_once_in_order(walked: Store, restriction: dict[str, Any]) -> None:
    whole = await walked.iocs.find(query(limit=100, **restriction))
    assert whole.next is None and len(whole.items) == whole.total
    for limit in (1, 7):
        assert await walk(walked, query(limit=limit, **restriction)) == list(whole.items)


async def test_a_page_that_ends_exactly_at_the_end_has_no_next(store: Store) -> None:
    await publish(store, make_article(), "domain a.example", "domain b.example")
    page = await store.iocs.find(query(limit=2))
    assert (len(page.items), page.total, page.next) == (2, 2, None)


async def test_a_position_holds_the_sort_values_of_the_last_item(store: Store) -> None:
    await publish(store, make_article(at=4), "domain a.example", "domain b.example")
    page = await store.iocs.find(query(limit=1))
    last = page.items[-1]
    assert page.next == Position((to_milliseconds(hour(4)), last.id))


async def test_a_walk_with_writes_in_between_meets_what_was_there_once(store: Store) -> None:
    for n in range(10):
        await publish(store, make_article(f"a{n}", at=n), f"domain d{n}.example")
    first = await store.iocs.find(query(limit=4))
    await publish(store, make_article("late", at=50), "domain new.example", "domain d9.example")
    await publish(store, make_article("early", at=-50), "domain old.example")
    second = await walk(store, query(limit=4, after=first.next))
    assert values(first) == ["d9.example", "d8.example", "d7.example", "d6.example"]
    assert values(second) == [f"d{n}.example" for n in range(5, -1, -1)] + ["old.example"]


async def test_ids_that_exist_are_read_in_one_go(store: Store) -> None:
    await publish(store, make_article(), "domain a.example", "domain b.example")
    missing = id_of("domain unknown.example")
    wanted = [id_of("domain a.example"), missing, id_of("domain b.example"), id_of("domain a.example")]
    found = await store.iocs.get_many(wanted)
    assert {id: ioc.value for id, ioc in found.items()} == {wanted[0]: "a.example", wanted[2]: "b.example"}
    assert found[wanted[0]] == await store.iocs.get(wanted[0])
    assert await store.iocs.get(missing) is None
    assert await store.iocs.get("' OR 1=1 --") is None
    assert await store.iocs.get_many([]) == {}


async def test_ten_thousand_ids_are_read_in_one_go(store: Store) -> None:
    await publish(store, make_article(), "domain a.example")
    wanted = [id_of(f"domain {n}.example") for n in range(9_999)] + [id_of("domain a.example")]
    assert values(tuple((await store.iocs.get_many(wanted)).values())) == ["a.example"]


async def test_the_articles_of_an_indicator_are_newest_first(store: Store) -> None:
    articles = [make_article(f"a{n}", at=n % 3) for n in range(7)]
    for article in articles:
        await publish(store, article, "domain evil.example")
    newest = sorted(articles, key=lambda article: (-to_milliseconds(article.seen_at), article.id))
    mentions, total = await store.iocs.mentions_of(id_of("domain evil.example"), 4)
    named = "It used evil.example then."
    assert (mentions, total) == (tuple(Mention(article.ref, named) for article in newest[:4]), 7)
    assert await store.iocs.mentions_of(id_of("domain unknown.example"), 4) == ((), 0)
    assert (await the_ioc(store, "domain evil.example")).article == newest[0].ref


async def test_related_are_most_shared_then_newest_then_by_id(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain it.example", "domain twice.example", "domain once.example")
    await publish(store, make_article("b", at=2), "domain it.example", "domain twice.example", "ip 192.0.2.2")
    await publish(store, make_article("c", at=3), "domain elsewhere.example", "domain once.example")
    await publish(store, make_article("d", at=2), "domain it.example", "ip 192.0.2.3", "ip 192.0.2.2")
    most_shared = ["192.0.2.2", "twice.example", "once.example", "192.0.2.3"]
    if id_of("ip 192.0.2.2") > id_of("domain twice.example"):
        most_shared[:2] = reversed(most_shared[:2])
    found = await store.iocs.related(id_of("domain it.example"), 10)
    assert values(found) == most_shared
    assert values(await store.iocs.related(id_of("domain it.example"), 3)) == most_shared[:3]
    assert await store.iocs.related(id_of("domain unknown.example"), 3) == ()
    assert found[2] == await the_ioc(store, "domain once.example")


async def test_related_looks_at_the_newest_twenty_articles_only(store: Store) -> None:
    await publish(store, make_article("oldest", at=0), "domain it.example", "domain forgotten.example")
    for n in range(20):
        await publish(store, make_article(f"a{n}", at=1 + n), "domain it.example", "domain beside.example")
    assert values(await store.iocs.related(id_of("domain it.example"), 10)) == ["beside.example"]
