"""What matches much is ranked by walking indexes, with the same pages as by sorting."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest

from intel.matching import Reasons
from intel.query import IocQuery
from intel.records import Ioc, Vote
from intel.store.sqlite import matches, ranking
from intel.store.sqlite.finding import ioc_search
from intel.store.sqlite.matching import Sql
from intel.store.sqlite.rows import id_text
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import hour, make_article, publish, query
from tests.contract.store.corpus import make_corpus

SEARCHES = ("evil", "evil corp", "emotet evil*", "e*", "example", "198.51.0.0/16", "evil.example", "loader", "??")


async def pages(store: SqliteStore, asked: IocQuery | None) -> tuple[list[tuple[Ioc, ...]], int | None]:
    """Every page of a search, and the total that the first one tells."""
    found, total = [], None
    while asked is not None:
        page = await store.iocs.find(asked)
        found.append(page.items)
        total = page.total if asked.after is None else total
        asked = replace(asked, after=page.next) if page.next else None
    return found, total


async def fill(store: SqliteStore) -> None:
    for saved in make_corpus():
        await store.articles.save(saved.article, saved.sightings, [])
    for name in ("one", "two", "three"):
        numbers = range(0, 30, len(name))
        article = make_article(name, source=name, title=f"Loader {name}")
        await publish(store, article, *[f"domain d{number}.evil.example" for number in numbers])


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps", [pytest.param(0, marks=pytest.mark.slow), 3, pytest.param(20_000, marks=pytest.mark.slow)]
)
async def test_walks_give_the_pages_that_sorting_gives(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    await fill(store)
    for text in SEARCHES:
        for type in (None, "domain"):
            asked = query(text, limit=4, type=type)
            expected = await pages(store, asked)
            with monkeypatch.context() as patched:
                patched.setattr(matches, "FEW", -1)
                patched.setattr(ranking, "_STEPS", steps)
                patched.setattr(ranking, "_SORTED_AT_ONCE", 7)
                assert await pages(store, asked) == expected, (text, type)


@pytest.mark.slow
@pytest.mark.parametrize("sort", [None, "first_seen", "sources", "added_at"])
async def test_filters_let_the_same_through_of_much_as_of_little(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, sort: str | None
) -> None:
    await fill(store)
    voted = (await store.iocs.find(query("evil.example"))).items[0]
    await store.votes.put(Vote(voted.id, "account-1", "", hour(9)))
    for text in SEARCHES:
        for only in (
            {"type": "domain"}, {"source": "one"}, {"malware": ("Emotet",)}, {"min_sources": 2}, {"since": hour(2)},
            {"exclude": ("warned", "false_positive")}, {"added_since": hour(0)}, {"source": "two", "type": "domain"},
        ):  # fmt: skip
            asked = query(text, limit=4, sort=sort, **only)
            expected, divided = await pages(store, asked), await store.iocs.facets(asked)
            with monkeypatch.context() as patched:
                patched.setattr(matches, "FEW", -1)
                assert await pages(store, asked) == expected, asked
                assert await store.iocs.facets(asked) == divided, asked
                patched.setattr(ranking, "_STEPS", 3)
                assert await pages(store, asked) == expected, asked


@pytest.mark.slow
@pytest.mark.parametrize("without", [0, 250])
async def test_values_that_tell_themselves_whether_they_match_give_the_same_pages(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, without: int
) -> None:
    await fill(store)
    walked, met = set[str](), ranking._values_met
    for text in (*SEARCHES, '"evil example"', "evil.example d2", "203.0.113.7", "d1"):
        asked, domains = query(text, limit=4), query(text, limit=4, type="domain")
        expected, of_domains = await pages(store, asked), await pages(store, domains)

        def note(*arguments: Any, text: str = text) -> Any:
            found = met(*arguments)
            walked.update([text] if found is not None else [])
            return found

        with monkeypatch.context() as patched:
            patched.setattr(matches, "FIRST", 1)
            patched.setattr(ranking, "_VERY_MANY", 0)
            patched.setattr(ranking, "_STEPS_WITHOUT_ONE", without)
            patched.setattr(ranking, "_values_met", note)
            assert await pages(store, asked) == expected, text
            patched.setattr(ranking, "_SO_MANY_READ", 0)
            assert await pages(store, replace(asked, facets=True)) == expected, text
            assert await pages(store, replace(asked, filter=domains.filter)) == of_domains, text
    assert walked >= {"evil", "evil.example"}


@pytest.mark.slow
async def test_values_tell_the_class_that_the_full_text_index_tells(store: SqliteStore) -> None:
    await fill(store)
    every = {one.id: one for one in (await store.iocs.find(IocQuery(limit=1_000))).items}
    for text in (*SEARCHES, '"evil example"', "evil.example d2", "203.0.113.7", "Emotet", "xn--bcher-kva.example", "é"):
        asked = query(text, limit=1_000)
        assert asked.text is not None
        statement, reasons = ioc_search(asked, asked.text), Reasons(asked.text)

        def told(connection: sqlite3.Connection, statement: Sql = statement) -> list[tuple[str, int]]:
            rows = connection.execute(statement.text, statement.parameters)
            return [(id_text(row["id"]), row["class"]) for row in rows]

        for id, class_ in await store._database.read(told):
            assert reasons.class_of(every[id].type, every[id].value) == class_, (text, every[id].value)


async def test_words_that_every_indicator_has_give_the_same_pages_and_the_facets_of_the_list(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, source in enumerate(("one", "two", "one", "three")):
        article = make_article(f"a{number}", source=source, title="Evil bulletin", at=number)
        named = [f"domain d{each}.evil.example" for each in range(number * 5, number * 5 + 9)]
        await publish(store, article, "domain evil.example", *named)
    for text in ("bulletin", "evil.example", "evil*"):  # in no value; in every one, with an exact one; in every one
        expected = await pages(store, query(text, limit=4))
        with monkeypatch.context() as patched:
            patched.setattr(matches, "FEW", -1)
            patched.setattr(matches, "FIRST", 3)
            assert await pages(store, query(text, limit=4)) == expected, text
            assert await store.iocs.facets(query(text)) == await store.iocs.facets(IocQuery()), text


async def test_words_that_every_indicator_has_are_filtered_as_a_list(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, source in enumerate(("one", "two", "one", "three")):
        article = make_article(f"a{number}", source=source, title="Evil bulletin", at=number)
        named = [f"domain d{each}.evil.example" for each in range(number * 5, number * 5 + 9)]
        await publish(store, article, "domain evil.example", "url http://evil.example/", *named)
    voted = (await store.iocs.find(query("d7.evil.example"))).items[0]
    await store.votes.put(Vote(voted.id, "account-1", "", hour(9)))
    for text in ("bulletin", "evil.example", "evil*"):
        for only in (
            {"type": "domain"}, {"type": "email"}, {"min_sources": 2}, {"source": "one"}, {"since": hour(2)},
            {"exclude": ("warned", "false_positive")},
        ):  # fmt: skip
            asked = query(text, limit=4, **only)
            expected = await pages(store, asked)
            with monkeypatch.context() as patched:
                patched.setattr(matches, "FIRST", 3)
                assert await pages(store, asked) == expected, asked
                patched.setattr(matches, "FEW", -1)
                assert await pages(store, asked) == expected, asked


async def test_addresses_of_a_network_are_the_same_marked_in_their_places_and_sorted(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(store, make_article("a"), *[f"ip 203.0.113.{number}" for number in range(40)])
    found = await pages(store, query("203.0.113.0/24", limit=7))
    monkeypatch.setattr(matches, "FEW", -1)
    assert await pages(store, query("203.0.113.0/24", limit=7)) == found


async def test_what_is_read_in_pieces_or_counted_in_blocks_is_what_is_read_at_once(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store)
    for text in SEARCHES:
        asked = query(text, limit=4)
        expected, divided = await pages(store, asked), await store.iocs.facets(asked)
        with monkeypatch.context() as patched:
            for name, value in (
                ("FEW", -1), ("FIRST", 2), ("_DENSE", 0), ("_COUNTED_AT_ONCE", 5), ("_PIECE", 3), ("_READ_AT_ONCE", 7),
            ):  # fmt: skip
                patched.setattr(matches, name, value)
            assert await pages(store, asked) == expected, text
            assert await pages(store, replace(asked, facets=True)) == expected, text
            assert await store.iocs.facets(asked) == divided, text


async def test_a_list_of_sources_and_malware_is_the_same_where_few_have_both(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store)
    sources = {one.article.source_name for one in (await store.iocs.find(query(None, limit=1_000))).items}
    totals = set[int | None]()
    for source in (*sorted(sources), "none"):
        for only in ({}, {"type": "domain"}, {"min_sources": 2}, {"until": hour(12)}):
            asked = query(None, limit=3, source=source, malware=("Emotet",), **only)
            cards = await store.iocs.find_cards(asked)
            found, divided = await pages(store, asked), await store.iocs.facets(asked)
            assert [card.id for card in cards.items] == [one.id for one in found[0][0]] and cards.total == found[1]
            with monkeypatch.context() as patched:
                patched.setattr(matches, "FEW", -1)
                assert await pages(store, asked) == found, asked
                assert await store.iocs.facets(asked) == divided, asked
            totals.add(found[1])
    assert len(totals) > 2
