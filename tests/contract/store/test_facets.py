"""How a whole list or search divides: the same indicators as its pages list, counted by type, source and week."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from intel.ageing import age
from intel.query import IocFilter, IocQuery, Position
from intel.records import Facets, Sighting, Vote
from intel.store.port import Store
from tests.cases import each
from tests.contract.store.builders import hour, id_of, make_article, publish, query

NOTHING = Facets({}, {}, {})


async def test_an_empty_store_has_no_facets(store: Store) -> None:
    assert await store.iocs.facets(IocQuery()) == NOTHING
    assert await store.iocs.facets(query("evil")) == NOTHING


async def test_indicators_count_by_type_by_each_source_and_by_the_week_they_were_last_seen(store: Store) -> None:
    await publish(store, make_article("a", at=0, source="A"), "domain evil.example", "ip 192.0.2.1", "ip 192.0.2.2")
    await publish(store, make_article("b", at=24, source="B"), "domain evil.example", "domain b.example")
    await publish(store, make_article("c", at=24 * 7, source="B"), "ip 192.0.2.1", "cve CVE-2024-1")
    found = await store.iocs.facets(IocQuery())
    assert found.types == {"cve": 1, "domain": 2, "ip": 2}
    assert found.sources == {"B": 4, "A": 3}
    assert found.weeks == {"2026-W48": 2, "2026-W47": 3}


async def test_facets_are_those_of_the_whole_search_whatever_the_page(store: Store) -> None:
    await publish(store, make_article("a", source="A"), *[f"domain d{n}.evil.example" for n in range(30)])
    await publish(store, make_article("b", source="B"), "domain d1.evil.example", "domain good.test", "ip 192.0.2.1")
    expected = Facets({"domain": 30}, {"A": 30, "B": 1}, {"2026-W47": 30})
    asked = query("evil.example", limit=3)
    page = await store.iocs.find(asked)
    assert page.total == 30
    assert await store.iocs.facets(asked) == expected
    assert await store.iocs.facets(replace(asked, after=page.next)) == expected
    far = Position((0, "zzzz"))
    assert (await store.iocs.facets(IocQuery(limit=1, after=far))).types == {"domain": 31, "ip": 1}


async def test_the_first_page_tells_how_it_divides_with_other_filters_too(corpus_store: Store) -> None:
    others = (IocFilter(), IocFilter(types=("ip", "url")), IocFilter(sources=("Agency",), min_sources=2))
    for text in (None, "evil", "emotet evil*", "198.51.0.0/16"):
        for sort in (None, "first_seen"):
            asked = replace(query(text, limit=2, type="domain", sort=sort), facets=True, facet_filters=others)
            page = await corpus_store.iocs.find(asked)
            one_by_one = [await corpus_store.iocs.facets(replace(asked, filter=only)) for only in others]
            assert page.other_facets == tuple(one_by_one), asked
            if page.next is not None:
                assert (await corpus_store.iocs.find(replace(asked, after=page.next))).other_facets == (), asked


@pytest.mark.slow
async def test_the_first_page_tells_its_facets_where_they_are_asked_for(corpus_store: Store) -> None:
    for text in (None, "evil", "emotet evil*", "198.51.0.0/16", "evil.example", "??"):
        for only in ({}, {"type": "domain"}, {"source": "Agency"}, {"sort": "added_at"}):
            asked = query(text, limit=2, **only)
            expected = await corpus_store.iocs.facets(asked)
            asked = replace(asked, facets=True)
            page, cards = await corpus_store.iocs.find(asked), await corpus_store.iocs.find_cards(asked)
            assert page.facets == cards.facets == expected, asked
            assert replace(page, facets=None) == await corpus_store.iocs.find(replace(asked, facets=False)), asked
            if page.next is not None:
                assert (await corpus_store.iocs.find(replace(asked, after=page.next))).facets is None, asked


async def test_an_indicator_of_one_source_counts_for_its_others_too(store: Store) -> None:
    await publish(store, make_article("a", source="A"), "domain evil.example", "domain a.example")
    await publish(store, make_article("b", source="B"), "domain evil.example", "ip 192.0.2.1")
    assert (await store.iocs.facets(IocQuery(filter=IocFilter(sources=("A",))))).sources == {"A": 2, "B": 1}
    found = await store.iocs.facets(query("evil", source="B"))
    assert found == Facets({"domain": 1}, {"A": 1, "B": 1}, {"2026-W47": 1})
    assert await store.iocs.facets(IocQuery(filter=IocFilter(sources=("unknown",)))) == NOTHING


async def test_copies_count_for_their_own_source_names(store: Store) -> None:
    await publish(store, make_article("a", at=0, source="Agency", cluster="one"), "domain evil.example")
    await publish(store, make_article("b", at=1, source="Copycat", cluster="one"), "domain evil.example")
    assert (await store.iocs.facets(IocQuery())).sources == {"Agency": 1, "Copycat": 1}


async def test_every_filter_narrows_them(store: Store) -> None:
    for n in range(6):
        source = "AB"[n % 2]
        await publish(store, make_article(f"a{n}", at=24 * n, source=source), f"ip 192.0.2.{n}", f"domain d{n}.example")
    assert await store.iocs.facets(query(type="ip", since=hour(24), until=hour(24 * 3))) == Facets(
        {"ip": 3}, {"B": 2, "A": 1}, {"2026-W47": 3}
    )
    ids = tuple(map(id_of, ("ip 192.0.2.1", "domain d2.example", "domain unknown.example")))
    assert await store.iocs.facets(IocQuery(ids=ids)) == Facets(
        {"domain": 1, "ip": 1}, {"A": 1, "B": 1}, {"2026-W47": 2}
    )
    assert await store.iocs.facets(IocQuery(ids=())) == NOTHING
    found = await store.iocs.facets(query("192.0.2.0/24", source="B", since=hour(24 * 2)))
    assert found == Facets({"ip": 2}, {"B": 2}, {"2026-W47": 2})
    assert await store.iocs.facets(query("??")) == NOTHING


async def test_types_and_sources_come_most_first_then_by_name(store: Store) -> None:
    for source in ("b", "B", "a", "Ü", "分", "z"):
        await publish(store, make_article(source, source=source), "domain evil.example", "ip 192.0.2.1")
    await publish(store, make_article("more", source="z"), "cve CVE-2024-1", "ip 192.0.2.2")
    found = await store.iocs.facets(IocQuery())
    assert list(found.types.items()) == [("ip", 2), ("cve", 1), ("domain", 1)]
    names = [("z", 4), ("B", 2), ("a", 2), ("b", 2), ("Ü", 2), ("分", 2)]
    assert list(found.sources.items()) == names


@pytest.mark.timeout(900)
async def test_the_twenty_sources_with_the_most_are_given(store: Store) -> None:
    for n in range(25):
        extra = ("ip 192.0.2.1",) if n >= 23 else ()
        await publish(store, make_article(f"a{n}", source=f"S{n:02}"), "domain evil.example", *extra)
    found = await store.iocs.facets(query("evil", type="domain"))
    assert list(found.sources) == [f"S{n:02}" for n in range(20)]
    assert list((await store.iocs.facets(IocQuery())).sources) == ["S23", "S24", *(f"S{n:02}" for n in range(18))]


async def test_the_newest_twenty_six_weeks_that_occur_are_given_newest_first(store: Store) -> None:
    for n in range(28):
        await publish(store, make_article(f"a{n}", at=-24 * 14 * n), f"ip 192.0.2.{n}", f"domain d{n}.example")
    found = await store.iocs.facets(IocQuery(filter=IocFilter(types=("ip",))))
    weeks = [(hour(-24 * 14 * n)).isocalendar() for n in range(26)]
    assert list(found.weeks.items()) == [(f"{week.year}-W{week.week:02}", 1) for week in weeks]
    assert found.types == {"ip": 28}


@each(
    ("moment", "week"),
    [
        (datetime(2026, 11, 16, tzinfo=UTC), "2026-W47"),
        (datetime(2026, 11, 16, tzinfo=UTC) - timedelta(milliseconds=1), "2026-W46"),
        (datetime(2026, 11, 22, 23, 59, 59, 999000, tzinfo=UTC), "2026-W47"),
        (datetime(2027, 1, 3, 12, tzinfo=UTC), "2026-W53"),
        (datetime(2027, 1, 4, tzinfo=UTC), "2027-W01"),
        (datetime(2024, 12, 30, tzinfo=UTC), "2025-W01"),
        (datetime(1969, 12, 31, tzinfo=UTC), "1970-W01"),
        (datetime(1969, 12, 28, 23, 59, tzinfo=UTC), "1969-W52"),
        (datetime(1962, 6, 6, 6, tzinfo=UTC), "1962-W23"),
    ],
    ids=str,
)
async def test_a_week_is_the_iso_week_in_utc(store: Store, moment: datetime, week: str) -> None:
    await publish(store, replace(make_article(), published_at=moment), "domain evil.example")
    assert (await store.iocs.facets(IocQuery())).weeks == {week: 1}
    assert (await store.iocs.facets(query("evil"))).weeks == {week: 1}


async def test_facets_follow_what_is_saved_and_what_vanishes(store: Store, other_store: Store) -> None:
    await publish(store, make_article("a", source="A"), "domain evil.example", "ip 192.0.2.1")
    await publish(store, make_article("a", source="B", at=24 * 7), "domain evil.example")
    expected = Facets({"domain": 1}, {"B": 1}, {"2026-W48": 1})
    assert await other_store.iocs.facets(IocQuery()) == expected
    assert await other_store.iocs.facets(query("evil")) == expected


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_many_matches_are_counted_exactly(store: Store) -> None:
    domains = [Sighting("domain", f"d{n}.evil.example", "", (), n) for n in range(11_000)]
    await publish(store, make_article("a", source="A"), *domains)
    await publish(store, make_article("b", source="B", at=24 * 7), *domains[:4_000], "ip 192.0.2.1")
    expected = Facets({"domain": 11_000}, {"A": 11_000, "B": 4_000}, {"2026-W48": 4_000, "2026-W47": 7_000})
    assert await store.iocs.facets(query("evil.example")) == expected
    found = await store.iocs.facets(IocQuery())
    assert found.types == {"domain": 11_000, "ip": 1} and found.sources == {"A": 11_000, "B": 4_001}


@pytest.mark.slow
async def test_spans_count_to_the_very_moment_and_leave_out_what_is_excluded(store: Store) -> None:
    week = 24 * 7
    for number in range(12):
        article = make_article(f"a{number}", at=number * week / 2, source=f"S{number % 3}")
        await publish(store, article, f"domain d{number}.example", f"ip 192.0.2.{number}", "cve CVE-2024-1")
    await store.votes.put(Vote(id_of("domain d3.example"), "account-1", "", hour(0)))
    moments = (hour(place * week / 4 + beside) for place in range(24) for beside in (0, 0.001))
    now, bounds = hour(30 * 24), [None, *moments]
    every = (await store.iocs.find(IocQuery(limit=50))).items
    for since in bounds[::5]:
        for until in bounds[::6]:
            for exclude in ((), ("false_positive",), ("expired", "warned")):
                only = IocFilter(since=since, until=until, exclude=exclude, now=now)
                found = await store.iocs.facets(IocQuery(filter=only))
                left = [
                    ioc
                    for ioc in every
                    if (since is None or ioc.last_seen >= since)
                    and (until is None or ioc.last_seen <= until)
                    and not ("false_positive" in exclude and ioc.value == "d3.example")
                    and not ("expired" in exclude and age(ioc.type, ioc.last_seen, now).status == "expired")
                ]
                assert found.types == Counter(ioc.type for ioc in left), (since, until, exclude)
                assert sum(found.weeks.values()) == len(left)
                total = (await store.iocs.find(IocQuery(filter=only, limit=1))).total
                assert total == len(left)
                assert found.sources.get("S1", 0) == sum(
                    1 for ioc in left if ioc.type == "cve" or ioc.article.source_name == "S1"
                )
