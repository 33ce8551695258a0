"""Rebuilding repairs everything that is derived."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from intel.query import ArticleQuery, IocFilter, IocQuery, parse_search
from intel.records import Facets, Sighting
from intel.store.sqlite.connection import Database
from intel.store.sqlite.reindexing import words_between
from intel.store.sqlite.store import SqliteStore
from intel.store.sqlite.word_index import (
    ARTICLE_WORDS,
    IOC_WORDS,
    ArticleWords,
    add_rebuilt,
    add_rebuilt_articles,
    begin_rebuilding,
    end_rebuilding,
    stored_words,
)
from tests.contract.store.builders import listed, make_article, publish, query, search, the_ioc

DAMAGE = (
    "INSERT INTO ioc_words (ioc_words) VALUES ('delete-all')",
    "INSERT INTO ioc_words (rowid, value, article) SELECT seq, 'wrong', 'wrong' FROM iocs",
    "INSERT INTO article_words (article_words) VALUES ('delete-all')",
    "INSERT INTO article_words (rowid, title, text) SELECT seq, 'wrong', 'wrong' FROM articles",
    "INSERT INTO article_words (rowid, title) VALUES (4711, 'stray')",
    "INSERT INTO ioc_words (rowid, value) VALUES (4711, 'stray')",
    "DELETE FROM ioc_sources",
    "UPDATE ioc_sources SET kind = 0, shared = 2",
    "DELETE FROM facet_keys",
    "UPDATE facet_keys SET keys = zeroblob(4000)",
    "DELETE FROM source_lists",
    "INSERT INTO source_lists SELECT source_seq, 0, x'00', 'ip', 4711 FROM source_lists LIMIT 1",
    "UPDATE iocs SET ip = NULL",
    "UPDATE iocs SET sightings = 99, sources = 99, last_seen = 0, context = 'wrong', malware = '[\"wrong\"]'",
    "UPDATE ioc_counts SET iocs = 99",
    "DELETE FROM source_counts",
    "UPDATE source_weeks SET iocs = 99",
    "DELETE FROM malware_lists",
    "INSERT INTO malware_lists SELECT seq, 0, x'00', 4711 FROM malware_names LIMIT 1",
    "UPDATE articles SET counted_source = 'wrong'",
    """
    INSERT INTO iocs (
        seq, id, type, value, first_seen, last_seen, sightings, sources, article_seq, added_at, changed_at,
        added_number, change_number, malware, context
    ) SELECT 99, x'99', 'ip', 'x', 0, 0, 1, 1, article_seq, 0, 0, 0, 0, '[]', '' FROM iocs LIMIT 1
    """,
)


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE)
async def test_rebuilding_repairs_what_is_derived(store: SqliteStore, database: Database, damage: str) -> None:
    await publish(store, make_article("a", at=1, source="A", cluster="one"), "domain evil.example", "ip 192.0.2.1")
    named = Sighting("domain", "evil.example", "It used evil.example then.", ("Emotet",))
    await publish(store, make_article("b", at=2, source="B", cluster="one"), named)
    before = await the_ioc(store, "domain evil.example")
    await database.write(lambda connection: connection.execute(damage).rowcount)
    await store.reindex(lambda what, done, total: None)
    assert await the_ioc(store, "domain evil.example") == before
    assert await listed(store) == ["evil.example", "192.0.2.1"]
    assert await listed(store, source="B") == ["evil.example"]
    assert await listed(store, malware=("Emotet",)) == ["evil.example"]
    assert await search(store, "evil.example") == ["evil.example"]
    assert await search(store, "192.0.2.0/24") == ["192.0.2.1"]
    assert await search(store, "loader") == ["evil.example", "192.0.2.1"]
    assert await search(store, "wrong") == await search(store, "stray") == []
    assert await articles_found(store, "loader") == ["a", "b"]
    assert await articles_found(store, "wrong") == await articles_found(store, "stray") == []
    assert (await store.totals()).iocs == 2
    assert await store.iocs.facets(IocQuery()) == Facets({"domain": 1, "ip": 1}, {"A": 2, "B": 1}, {"2026-W47": 2})
    assert (await store.iocs.facets(IocQuery(filter=IocFilter(sources=("B",))))).weeks == {"2026-W47": 1}
    found = await store.iocs.facets(query("loader"))
    assert found == Facets({"domain": 1, "ip": 1}, {"A": 2, "B": 1}, {"2026-W47": 2})


async def articles_found(store: SqliteStore, q: str) -> list[str]:
    page = await store.articles.find(ArticleQuery(parse_search(q)))
    return sorted((article.url or "").rpartition("/")[2] for article in page.items)


async def test_what_is_saved_while_words_are_rebuilt_is_found_afterwards(
    store: SqliteStore, database: Database
) -> None:
    first = make_article("a", at=1, title="Before")
    await publish(store, first, *[f"domain d{n}.example" for n in range(3)], "ip 192.0.2.1")
    await database.write(lambda connection: begin_rebuilding(connection, IOC_WORDS, "run"))
    await database.write(lambda connection: add_rebuilt(connection, "run", words_between(connection, 0, 2), 2))
    await publish(store, replace(first, title="After"), "domain d0.example", "domain d2.example", "ip 192.0.2.1")
    await publish(store, make_article("b", at=2, title="Late"), "domain late.example")
    await database.write(lambda connection: add_rebuilt(connection, "run", words_between(connection, 2, 99), 99))
    await database.write(lambda connection: end_rebuilding(connection, IOC_WORDS, "run"))
    assert await search(store, "before") == await search(store, "d1.example") == []
    assert set(await search(store, "after")) == {"d0.example", "d2.example", "192.0.2.1"}
    assert await search(store, "late") == ["late.example"]
    assert await search(store, "d0.example") == ["d0.example"]


async def test_articles_saved_and_removed_while_words_are_rebuilt_are_found_or_not_afterwards(
    store: SqliteStore, database: Database
) -> None:
    def rebuild(connection: sqlite3.Connection, first: int, last: int) -> None:
        rows = connection.execute("SELECT seq FROM articles WHERE seq BETWEEN ? AND ?", (first, last)).fetchall()
        words = [ArticleWords(seq, None, stored_words(connection, seq)) for (seq,) in rows]
        assert add_rebuilt_articles(connection, "run", words, last)

    for number, name in enumerate("abcd"):
        await publish(store, make_article(name, at=number, title="Before"), f"domain {name}.example")
    await database.write(lambda connection: begin_rebuilding(connection, ARTICLE_WORDS, "run"))
    await database.write(lambda connection: rebuild(connection, 1, 2))
    for name in "ad":
        await publish(store, make_article(name, at=0, title="After"), f"domain {name}.example")
    assert await store.articles.remove(make_article("b").id)
    await publish(store, make_article("e", at=9, title="Late"), "domain e.example")
    await database.write(lambda connection: rebuild(connection, 3, 99))
    await database.write(lambda connection: end_rebuilding(connection, ARTICLE_WORDS, "run"))
    assert await articles_found(store, "before") == ["c"]
    assert await articles_found(store, "after") == ["a", "d"]
    assert await articles_found(store, "late") == ["e"]
    assert await store.articles.remove(make_article("c").id)
    assert await articles_found(store, "before") == []


async def test_a_rebuilding_that_another_one_overtook_changes_nothing(store: SqliteStore, database: Database) -> None:
    await publish(store, make_article(), "domain evil.example")
    await database.write(lambda connection: begin_rebuilding(connection, IOC_WORDS, "first"))
    await database.write(lambda connection: begin_rebuilding(connection, IOC_WORDS, "second"))
    assert not await database.write(lambda connection: add_rebuilt(connection, "first", [], 1))
    await database.write(lambda connection: end_rebuilding(connection, IOC_WORDS, "first"))
    assert await search(store, "evil.example") == ["evil.example"]
    await store.reindex(lambda what, done, total: None)
    assert await search(store, "evil.example") == ["evil.example"]


async def test_rebuilt_words_lie_in_one_piece(store: SqliteStore, database: Database) -> None:
    for number in range(6):
        await publish(store, make_article(f"a{number}"), f"domain d{number}.example")
    pieces = "SELECT count(DISTINCT segid) FROM ioc_words_idx"
    assert (await database.read(lambda connection: connection.execute(pieces).fetchone()))[0] > 1
    await store.reindex(lambda what, done, total: None)
    assert (await database.read(lambda connection: connection.execute(pieces).fetchone()))[0] == 1
    assert await search(store, "d3.example") == ["d3.example"]
    left = "SELECT count(*) FROM sqlite_master WHERE name GLOB 'new_*' OR name GLOB 'former_*'"
    assert (await database.read(lambda connection: connection.execute(left).fetchone()))[0] == 0


_KEPT = (
    "mentions", "article_observables", "named_near", "newly_named", "article_days", "sources", "submission_counts",
    "notable_subjects", "week_counts", "week_iocs",
)  # fmt: skip
_SUBJECTS_DAMAGED = (
    "DELETE FROM mentions",
    "UPDATE mentions SET source = 'wrong', level = 'poc', domain = 'wrong.example'",
    "INSERT INTO mentions VALUES ('cve', 'CVE-2026-4711', 0, 'stray', 'stray', NULL, NULL, NULL)",
    "UPDATE article_observables SET seqs = '[4711]', first_20 = '[]'",
    "INSERT INTO article_observables VALUES ('stray', '', '[1]', '[]', '[]')",
    "DELETE FROM notable_subjects",
    "UPDATE week_counts SET iocs = 99, new_iocs = 99",
    "DELETE FROM week_iocs",
    "UPDATE week_iocs SET articles = 99, sources = 99, first_seen = 0",
    "INSERT INTO week_iocs VALUES (4711, 2967, 2, 1, 0)",
    "DELETE FROM named_near",
    "UPDATE sources SET articles = 99",
    "DELETE FROM article_days",
    "INSERT INTO submission_counts VALUES ('done', 99)",
)


@pytest.mark.slow
@pytest.mark.parametrize("damage", _SUBJECTS_DAMAGED)
async def test_rebuilding_repairs_what_articles_say_of_subjects_and_what_is_counted(
    store: SqliteStore, database: Database, damage: str
) -> None:
    def kept(connection: sqlite3.Connection) -> dict[str, list[str]]:
        read = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in _KEPT}  # noqa: S608
        return {table: sorted(str(tuple(row)) for row in rows) for table, rows in read.items()}

    for number, cluster in enumerate(("one", "one", "two")):
        named = Sighting("domain", f"d{number}.example", "It called home.", ("Emotet",), 1)
        article = make_article(f"a{number}", at=number, source=f"Blog {number}", cluster=cluster)
        others = ("cve CVE-2026-12345", "malware Emotet", "mitre_attack T1059", "domain both.example")
        await publish(store, article, named, *others)
    before = await database.read(kept)
    assert before["week_iocs"] and before["notable_subjects"]
    assert before["mentions"] and before["article_observables"] and before["named_near"]
    await database.write(lambda connection: connection.execute(damage).rowcount)
    await store.reindex(lambda what, done, total: None)
    assert await database.read(kept) == before
