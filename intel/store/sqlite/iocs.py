"""Reading indicators."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from intel.query import ChangePage, ChangeQuery, IocQuery, Page, Position
from intel.records import NEWEST_ARTICLES, Facets, Ioc, Mention
from intel.store.sqlite import finding
from intel.store.sqlite.changes import read_changes
from intel.store.sqlite.connection import Database
from intel.store.sqlite.facets import divide
from intel.store.sqlite.matching import Sql
from intel.store.sqlite.rows import article_ref, iocs_by_id, iocs_in_order

T = TypeVar("T")
Load = Callable[[sqlite3.Connection, Sequence[str]], tuple[T, ...]]


class SqliteIocs:
    """The indicators of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, query: IocQuery) -> Page[Ioc]:
        return await self._database.read(lambda connection: _find(connection, query))

    async def facets(self, query: IocQuery) -> Facets:
        return await self._database.read(lambda connection: divide(connection, query))

    async def changes(self, query: ChangeQuery) -> ChangePage:
        return await self._database.read(lambda connection: read_changes(connection, query))

    async def get(self, id: str) -> Ioc | None:
        return (await self.get_many([id])).get(id)

    async def get_many(self, ids: Sequence[str]) -> dict[str, Ioc]:
        return await self._database.read(lambda connection: iocs_by_id(connection, ids))

    async def mentions_of(self, id: str, limit: int) -> tuple[tuple[Mention, ...], int]:
        def work(connection: sqlite3.Connection) -> tuple[tuple[Mention, ...], int]:
            rows = connection.execute(_MENTIONS_OF, (id, limit)).fetchall()
            (total,) = connection.execute("SELECT count(*) FROM sightings WHERE ioc_id = ?", (id,)).fetchone()
            return tuple(Mention(article_ref(row), row["context"]) for row in rows), total

        return await self._database.read(work)

    async def related(self, id: str, limit: int) -> tuple[Ioc, ...]:
        return await self._in_order(Sql(_RELATED, (id, NEWEST_ARTICLES, id, limit)))

    async def _in_order(self, ids: Sql) -> tuple[Ioc, ...]:
        def work(connection: sqlite3.Connection) -> tuple[Ioc, ...]:
            found = [id for (id,) in connection.execute(ids.text, ids.parameters)]
            return iocs_in_order(connection, found)

        return await self._database.read(work)


def count(connection: sqlite3.Connection, total: Sql) -> int:
    """Return what a statement of `finding` counts."""
    (counted,) = connection.execute(total.text, total.parameters).fetchone()
    return int(counted)


def read_page(connection: sqlite3.Connection, page: Sql, total: int | None, limit: int, load: Load[T]) -> Page[T]:
    """Return one page from a statement of `finding`; `load` reads the records of the ids that it selects."""
    rows = connection.execute(page.text, page.parameters).fetchall()
    items = load(connection, [row["id"] for row in rows[:limit]])
    return Page(items, total, _position(rows[limit - 1]) if len(rows) > limit else None)


def _find(connection: sqlite3.Connection, query: IocQuery) -> Page[Ioc]:
    if query.text is None:
        page, total = finding.ioc_list(query), finding.ioc_list_total(query)
    else:
        page, total = finding.ioc_search(query, query.text), finding.ioc_search_total(query)
    counted = count(connection, total) if query.after is None else None
    return read_page(connection, page, counted, query.limit, iocs_in_order)


def _position(row: sqlite3.Row) -> Position:
    negated = ("fewest_last", "newest_first")
    return Position(tuple(-value if name in negated else value for name, value in zip(row.keys(), row, strict=True)))


_MENTIONS_OF = """
    SELECT a.id AS article_id, a.title, a.url, a.source_name, a.published_at, a.seen_at, a.source_domain,
        s.context
    FROM sightings AS s JOIN articles AS a ON a.id = s.article_id
    WHERE s.ioc_id = ? ORDER BY s.newest_first, s.article_id LIMIT ?
"""
_RELATED = """
    WITH newest AS (SELECT article_id FROM sightings WHERE ioc_id = ? ORDER BY newest_first, article_id LIMIT ?),
         beside AS (
             SELECT s.ioc_id, count(*) AS shared FROM newest AS n JOIN sightings AS s ON s.article_id = n.article_id
             WHERE s.ioc_id <> ? GROUP BY s.ioc_id
         )
    SELECT i.id FROM beside AS b JOIN iocs AS i ON i.id = b.ioc_id
    ORDER BY b.shared DESC, i.newest_first, i.id LIMIT ?
"""
