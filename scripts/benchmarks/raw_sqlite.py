"""The same questions to the embedded store's file by plain sqlite3: in this process, one after the other."""

# ruff: noqa: S608 - statements are put together from pieces of our own

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from intel.query import ArticleQuery, IocQuery, Position
from intel.store.sqlite.matching import ANYWHERE, Sql, matching_iocs
from intel.store.sqlite.rows import ARTICLE_COLUMNS, IOC_COLUMNS, id_bytes

from .measuring import Way
from .questions import Query

Statements = Sequence[Sql]


class RawSqlite:
    """Reads the rows of a page, and its total where the store counts one too."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, cached_statements=256)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._connection.close()

    def way(self, queries: Sequence[Query]) -> Way:
        prepared = [_statements(query) for query in queries]

        async def ask(number: int) -> list[list[Any]]:
            statements = prepared[number % len(prepared)]
            return [self._connection.execute(one.text, one.parameters).fetchall() for one in statements]

        return Way(ask, lambda rows: len(rows[0]), tasks=1)


def _statements(query: Query) -> Statements:
    if isinstance(query, ArticleQuery):
        return [Sql(_ARTICLES, (query.limit,)), Sql("SELECT count(*) FROM articles")]
    if query.ids is not None:
        marks = ", ".join("?" * len(query.ids))
        return [Sql(f"{_IOCS} WHERE i.id IN ({marks})", tuple(map(id_bytes, query.ids)))]
    return _list(query) if query.text is None else _search(query)


def _list(query: IocQuery) -> Statements:
    type = Sql("type = ?", query.filter.types) if query.filter.types else Sql("TRUE")
    after = _after(query.after)
    page = f"SELECT seq FROM iocs WHERE {type.text} AND {after.text} ORDER BY newest_first, id LIMIT ?"
    statements = [_with_rows(Sql(page, (*type.parameters, *after.parameters, query.limit)), "newest_first, id")]
    if query.after is None:
        statements.append(Sql(f"SELECT sum(iocs) FROM ioc_counts WHERE {type.text}", type.parameters))
    return statements


def _search(query: IocQuery) -> Statements:
    assert query.text is not None  # noqa: S101 - asked for searches alone
    matching = matching_iocs(query.text.clauses, ANYWHERE)
    order = "sources DESC, newest_first, id"
    page = f"SELECT seq FROM iocs WHERE seq IN ({matching.text}) ORDER BY {order} LIMIT ?"
    total = f"SELECT count(*) FROM ({matching.text})"
    return [_with_rows(Sql(page, (*matching.parameters, query.limit)), order), Sql(total, matching.parameters)]


def _with_rows(page: Sql, order: str) -> Sql:
    rows = f"SELECT {IOC_COLUMNS} FROM ({page.text}) JOIN iocs AS i USING (seq)"
    articles = "JOIN articles AS a ON a.seq = i.article_seq"
    return Sql(f"{rows} {articles} ORDER BY {', '.join(f'i.{name}' for name in order.split(', '))}", page.parameters)


def _after(position: Position | None) -> Sql:
    if position is None:
        return Sql("TRUE")
    last_seen, id = position.values
    return Sql("(newest_first, id) > (?, ?)", (-int(last_seen), id_bytes(str(id))))


_IOCS = f"SELECT {IOC_COLUMNS} FROM iocs AS i JOIN articles AS a ON a.seq = i.article_seq"
_ARTICLES = f"SELECT {ARTICLE_COLUMNS} FROM articles ORDER BY newest_first, id LIMIT ?"
