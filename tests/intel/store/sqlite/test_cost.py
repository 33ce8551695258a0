"""A page of a list costs the same wherever it lies: every one is read from an index, in order."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from intel.query import ArticleQuery, IocQuery, Position, parse_search
from intel.store.sqlite import facets, finding
from intel.store.sqlite.articles import IOCS_OF
from intel.store.sqlite.connection import Database
from intel.store.sqlite.matching import Sql
from tests.cases import each
from tests.contract.store.builders import hour, query

DEEP = Position((1_700_000_000_000, "5f0c1b3e"))


async def plan(database: Database, sql: Sql) -> str:
    """How the engine would run a statement."""

    def work(connection: sqlite3.Connection) -> str:
        return "\n".join(row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql.text}", sql.parameters))

    return await database.read(work)


@each(
    ("query", "index"),
    [
        (IocQuery(), "iocs_newest"),
        (query(type="ip"), "iocs_of_type (type=?"),
        (query(source="Blog"), "SEARCH l USING PRIMARY KEY (source_seq=?"),
        (query(source="Blog", type="ip"), "source_lists_of_type (source_seq=? AND type=?"),
        (query(since=hour(0), until=hour(9)), "iocs_newest (newest_first>? AND newest_first<?"),
    ],
    ids=str,
)
async def test_a_list_of_indicators_is_read_in_order(database: Database, query: IocQuery, index: str) -> None:
    first = await plan(database, finding.ioc_list(query))
    assert index in first and "TEMP B-TREE" not in first


@pytest.mark.promise("cursor.deep-page-cost")
@each(
    ("query", "index"),
    [
        (IocQuery(after=DEEP), "iocs_newest ((newest_first,id)>(?,?))"),
        (query(type="ip", after=DEEP), "iocs_of_type (type=? AND (newest_first,id)>(?,?))"),
        (query(source="Blog", after=DEEP), "PRIMARY KEY (source_seq=? AND (newest_first,id)>(?,?))"),
    ],
    ids=str,
)
async def test_a_later_page_begins_where_the_last_one_ended(database: Database, query: IocQuery, index: str) -> None:
    later = await plan(database, finding.ioc_list(query))
    assert index in later and "TEMP B-TREE" not in later


@each("query", [ArticleQuery(), ArticleQuery(source="Blog"), ArticleQuery(after=DEEP)], ids=str)
async def test_a_list_of_articles_is_read_in_order(database: Database, query: ArticleQuery) -> None:
    found = await plan(database, finding.article_list(query))
    assert "TEMP B-TREE" not in found and "INDEX articles_" in found


@pytest.mark.promise("cursor.deep-page-cost")
async def test_a_page_of_an_article_s_indicators_begins_where_the_last_one_ended(database: Database) -> None:
    asked = {"article": "article", "position": 7_000, "id": b"\x5f", "most": 1_001}
    found = await database.read(
        lambda connection: connection.execute(f"EXPLAIN QUERY PLAN {IOCS_OF}", asked).fetchall()
    )
    details = [row["detail"] for row in found]
    assert any("sightings_of_article (article_seq=? AND position>?)" in detail for detail in details)
    # Only indicators of one position are sorted.
    assert [detail for detail in details if "TEMP B-TREE" in detail] == ["USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"]


@each("q", ["evil", "evil.example", "l*", "198.51.100.0/24", "198.51.100.0/24 evil"])
@each(
    "query",
    [
        IocQuery(),
        query(type="ip"),
        query(source="Blog"),
        query(ids=("a", "b"), source="Blog"),
    ],
    ids=str,
)
async def test_a_search_looks_up_each_match_once(database: Database, q: str, query: IocQuery) -> None:
    text = parse_search(q)
    assert text is not None
    query = replace(query, text=text)
    for sql in (finding.ioc_search(query, text), finding.matching_seqs(query)):
        found = await plan(database, sql)
        assert "SCAN iocs" not in found and "(id=? AND rowid=?)" not in found


@pytest.mark.parametrize("source", [None, "Blog"])
@each("type", [None, "ip"])
async def test_total_and_facets_of_a_list_are_kept_and_not_counted(
    database: Database, type: str | None, source: str | None
) -> None:
    asked = query(type=type, source=source)
    total, names = await plan(database, finding.ioc_list_total(asked)), await plan(database, facets.source_names(asked))
    assert "ioc_counts" in total or "source_weeks" in total
    assert "source_counts" in names and "iocs_" not in names and "source_lists" not in names


SPANS = (
    query(since=hour(0)),
    query(type="ip", until=hour(9)),
    query(since=hour(0), until=hour(9)),
    query(statuses=("active",), now=hour(0)),
)


@pytest.mark.parametrize("query", SPANS, ids=str)
async def test_the_facets_of_a_span_are_kept_and_what_stands_beside_whole_weeks_is_read_from_indexes(
    database: Database, query: IocQuery
) -> None:
    for span in query.filter.spans:
        for one in facets.kinds_of_span(span):
            found = await plan(database, one)
            assert "TEMP B-TREE" not in found
            assert "INDEX iocs_of_type (type=? AND newest_first>" in found or "ioc_counts" in found
        for one in facets.sources_of_span(span):
            found = await plan(database, one)
            assert "source_weeks" in found or "INDEX source_lists_of_type (source_seq=? AND type=? AND newest" in found


@pytest.mark.parametrize("rest", [{"statuses": ("active",)}, {"type": "domain"}], ids=str)
async def test_what_several_sources_name_is_counted_by_its_index_whatever_else_is_asked(
    database: Database, rest: dict[str, str]
) -> None:
    found = await plan(database, finding.ioc_list_total(query(min_sources=2, now=hour(9), **rest)))
    assert "iocs_of_many_sources" in found and "iocs_of_type" not in found and "iocs_newest" not in found
