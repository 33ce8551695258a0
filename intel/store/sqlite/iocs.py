"""Reading indicators."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import orjson

from intel.cards import Card
from intel.matching import Reasons
from intel.query import (
    AddedPage,
    AddedPosition,
    ChangePage,
    ChangePosition,
    ChangeQuery,
    IocQuery,
    Page,
    Position,
)
from intel.records import NEWEST_ARTICLES, Change, Facets, Ioc, Mention
from intel.store.sqlite import finding
from intel.store.sqlite.cards import Place, cards_by_id, cards_in_order, cards_listed, cards_ranked
from intel.store.sqlite.changes import newest, read_added, read_changes, read_changes_of, read_position
from intel.store.sqlite.columns import Columns
from intel.store.sqlite.connection import ROWS_AT_ONCE, Database, Work
from intel.store.sqlite.facets import divide, divide_found
from intel.store.sqlite.matches import Matches, few_listed
from intel.store.sqlite.matching import Sql
from intel.store.sqlite.ranking import Search, sorted_page, these
from intel.store.sqlite.rows import article_ref, id_bytes, id_text, ioc, iocs_by_id, iocs_in_order, stored_ids
from intel.words import words

T = TypeVar("T")
# As many are sorted in some milliseconds.
_FEW = 5_000
# To read so many times the cards of a page costs no more than to find out first which ones stand on it.
_FEW_CARDS = 2
Load = Callable[[sqlite3.Connection, Sequence[int]], tuple[T, ...]]


class SqliteIocs:
    """The indicators of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, query: IocQuery) -> Page[Ioc]:
        return await self._read(query)(lambda connection: _find(connection, query, iocs_in_order))

    async def find_cards(self, query: IocQuery) -> Page[Card]:
        return await self._read(query)(lambda connection: _find_cards(connection, query))

    def _read(self, query: IocQuery) -> Callable[[Work[Page[T]]], Awaitable[Page[T]]]:
        """Return how a page is read: beginnings of words are put together in one step, which nothing breaks off."""
        is_long = query.facets or (query.text is not None and any(clause.prefix for clause in query.text.clauses))
        return self._database.read if is_long else self._database.read_at_once

    async def stream(self, query: IocQuery) -> AsyncGenerator[tuple[Ioc, ...], None]:
        every = finding.ioc_stream(query)
        async with aclosing(self._database.stream(every.text, every.parameters)) as rows:
            some: list[Ioc] = []
            async for row in rows:
                some.append(ioc(row))
                if len(some) == ROWS_AT_ONCE:
                    yield tuple(some)
                    some = []
            if some:
                yield tuple(some)

    async def get_cards(self, ids: Sequence[str]) -> dict[str, Card]:
        return await self._database.read_at_once(lambda connection: cards_by_id(connection, ids))

    async def malware_named(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return await self._database.read_at_once(lambda connection: _malware_named(connection, names))

    async def facets(self, query: IocQuery) -> Facets:
        return await self._database.read(lambda connection: divide(connection, query))

    async def changes(self, query: ChangeQuery) -> ChangePage:
        return await self._database.read(lambda connection: read_changes(connection, query))

    async def position_at(self, moment: datetime) -> ChangePosition:
        return await self._database.read(lambda connection: read_position(connection, moment))

    async def changes_of(self, ids: Sequence[str]) -> dict[str, Change]:
        return await self._database.read(lambda connection: read_changes_of(connection, ids))

    async def newest(self) -> AddedPosition:
        return await self._database.read(newest)

    async def added(self, after: AddedPosition, limit: int) -> AddedPage:
        return await self._database.read(lambda connection: read_added(connection, after, limit))

    async def get(self, id: str) -> Ioc | None:
        return (await self.get_many([id])).get(id)

    async def get_many(self, ids: Sequence[str]) -> dict[str, Ioc]:
        return await self._database.read_at_once(lambda connection: iocs_by_id(connection, ids))

    async def stored(self, ids: Sequence[str]) -> frozenset[str]:
        return await self._database.read_at_once(lambda connection: stored_ids(connection, ids))

    async def mentions_of(self, id: str, limit: int) -> tuple[tuple[Mention, ...], int]:
        def work(connection: sqlite3.Connection) -> tuple[tuple[Mention, ...], int]:
            asked = (id_bytes(id),)
            rows = connection.execute(_MENTIONS_OF, (*asked, limit)).fetchall()
            (total,) = connection.execute(f"SELECT count(*) FROM sightings WHERE ioc_seq = {_SEQ}", asked).fetchone()
            return tuple(Mention(article_ref(row), row["context"]) for row in rows), total

        return await self._database.read(work)

    async def related(self, id: str, limit: int) -> tuple[Ioc, ...]:
        asked = {"id": id_bytes(id), "articles": NEWEST_ARTICLES, "limit": limit}

        def work(connection: sqlite3.Connection) -> tuple[Ioc, ...]:
            return iocs_in_order(connection, [seq for (seq,) in connection.execute(_RELATED, asked)])

        return await self._database.read(work)


def _malware_named(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in connection.execute(_MALWARE, (orjson.dumps([*filter(_has_words, names)]).decode(),)):
        found[name] = (*found.get(name, ()), value)
    return found


def _has_words(name: str) -> bool:
    first = name[:1]
    return (first.isascii() and first.isalnum()) or bool(words(name))


def count(connection: sqlite3.Connection, total: Sql) -> int:
    """Return the count of a statement of `finding`."""
    (counted,) = connection.execute(total.text, total.parameters).fetchone()
    return int(counted)


def read_page(connection: sqlite3.Connection, page: Sql, total: int | None, limit: int, load: Load[T]) -> Page[T]:
    """Return one page from a statement of `finding`; `load` reads the records that it selects."""
    rows = [dict(row) for row in connection.execute(page.text, page.parameters)]
    return _page(connection, rows, total, limit, load)


def _page(
    connection: sqlite3.Connection, rows: Sequence[Place], total: int | None, limit: int, load: Load[T]
) -> Page[T]:
    items = load(connection, [int(row["seq"]) for row in rows[:limit]])
    return Page(items, total, _position(rows[limit - 1]) if len(rows) > limit else None)


def _find(connection: sqlite3.Connection, query: IocQuery, load: Load[T]) -> Page[T]:
    if query.text is not None and query.sort is None:
        search = Search(connection, query, query.text)
        return _with_facets(connection, query, _page(connection, *search.page(), query.limit, load), search)
    if query.text is not None:
        matches = Matches(connection, query.text)
        page = _page(connection, *sorted_page(connection, query, matches), query.limit, load)
        return _with_facets(connection, query, page, matches=matches)
    statement, counted = _list(connection, query)
    return _with_facets(connection, query, read_page(connection, statement, counted, query.limit, load))


def _find_cards(connection: sqlite3.Connection, query: IocQuery) -> Page[Card]:
    """Do as `_find`; the cards of a list come with its statement."""
    if query.text is not None and query.sort is None:
        search = Search(connection, query, query.text)
        few = search.few(_FEW_CARDS * query.limit) if query.after is None else None
        if few is None:
            page = _page(connection, *search.page(), query.limit, cards_in_order)
        else:
            page = _few_found(connection, few, Reasons(query.text), query.limit)
        return _with_facets(connection, query, page, search)
    # Few have one of some ids: they are counted as they are read.
    is_short = query.text is None and query.ids is not None and query.after is None
    statement, total = (_statement(connection, query, None), None) if is_short else _list(connection, query)
    cards, last = cards_listed(connection, statement, query.limit)
    if is_short:
        total = len(cards) if last is None else count(connection, _total(query))
    return _with_facets(connection, query, Page(cards, total, None if last is None else _position(last)))


def _list(connection: sqlite3.Connection, query: IocQuery) -> tuple[Sql, int | None]:
    """Return the statement for a page of a list, and the total of a first page."""
    few = few_listed(connection, query)
    if few is not None:
        return finding.ioc_sorted(query, these(few)), len(few) if query.after is None else None
    total = count(connection, _total(query)) if query.after is None else None
    return _statement(connection, query, total), total


def _few_found(connection: sqlite3.Connection, seqs: Sequence[int], reasons: Reasons, limit: int) -> Page[Card]:
    """Return the first page of a search that finds little: the cards are read once and then put in order."""
    cards, last = cards_ranked(connection, seqs, reasons.class_of, limit)
    next = None if last is None else Position((last[0], last[1].sources, last[1].last_seen, last[1].id))
    return Page(cards, len(seqs), next)


def _with_facets(
    connection: sqlite3.Connection,
    query: IocQuery,
    page: Page[T],
    search: Search | None = None,
    matches: Matches | None = None,
) -> Page[T]:
    if not query.facets or query.after is not None:
        return page
    known = matches if search is None else search.matches
    columns = Columns(connection) if known is None else known.columns
    if search is None:
        facets = divide(connection, query, known, columns)
    else:
        facets = divide_found(connection, query, search.seqs, search.matches)
    others = tuple(divide(connection, replace(query, filter=only), known, columns) for only in query.facet_filters)
    return replace(page, facets=facets, other_facets=others)


def _total(query: IocQuery) -> Sql:
    if query.text is None:
        return finding.ioc_list_total(query)
    found = finding.matching_seqs(query)
    return Sql(f"SELECT count(*) FROM ({found.text})", found.parameters)


def _statement(connection: sqlite3.Connection, query: IocQuery, total: int | None) -> Sql:
    """Return the statement for a page that is not ordered by rank: little is sorted, of much an index is walked."""
    if finding.is_of_ids_alone(query):
        return finding.ioc_of_ids(query)
    if query.text is not None or query.ids is not None:
        return finding.ioc_sorted(query)
    if finding.is_read_in_order(query):
        return finding.ioc_list(query)
    if total is None:
        found = finding.matching_seqs(query)
        total = count(connection, Sql(f"SELECT count(*) FROM ({found.text} LIMIT ?)", (*found.parameters, _FEW + 1)))
    return finding.ioc_sorted(query) if total <= _FEW else finding.ioc_walk(query)


def _position(last: Place) -> Position:
    return Position(tuple(_sort_value(name, value) for name, value in last.items() if name != "seq"))


def _sort_value(name: str, value: int | str | bytes) -> int | str:
    """Return a sort value as both engines tell it."""
    if isinstance(value, bytes):
        return id_text(value)
    return -value if isinstance(value, int) and name in ("fewest_last", "newest_first") else value


_SEQ = "(SELECT seq FROM iocs WHERE id = ?)"
_MALWARE = """
    SELECT name, value FROM iocs WHERE name IN (SELECT value FROM json_each(?)) ORDER BY sources DESC, newest_first, id
"""
_MENTIONS_OF = f"""
    SELECT a.id AS article_id, a.title, a.url, a.source_name, a.published_at, a.seen_at, a.source_domain,
        s.context
    FROM sightings AS s CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE s.ioc_seq = {_SEQ} ORDER BY s.newest_first, a.id LIMIT ?
"""
# CROSS JOIN keeps the engine from beginning with the larger table.
_RELATED = """
    WITH one AS (SELECT seq FROM iocs WHERE id = :id),
         newest AS (
             SELECT s.article_seq FROM sightings AS s CROSS JOIN articles AS a ON a.seq = s.article_seq
             WHERE s.ioc_seq = (SELECT seq FROM one) ORDER BY s.newest_first, a.id LIMIT :articles
         ),
         beside AS (
             SELECT s.ioc_seq, count(*) AS shared
             FROM newest AS n CROSS JOIN sightings AS s INDEXED BY sightings_of_article ON s.article_seq = n.article_seq
             WHERE s.ioc_seq <> (SELECT seq FROM one) GROUP BY s.ioc_seq
         )
    SELECT i.seq FROM beside AS b CROSS JOIN iocs AS i ON i.seq = b.ioc_seq
    ORDER BY b.shared DESC, i.newest_first, i.id LIMIT :limit
"""
