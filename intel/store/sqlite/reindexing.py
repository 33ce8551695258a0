"""Builds anew what searches read, in short transactions between which other writes find their turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Protocol

from intel.store.port import Progress
from intel.store.sqlite import deriving
from intel.store.sqlite.articles import write_words
from intel.store.sqlite.connection import Database
from intel.store.sqlite.matching import ip_bytes
from intel.store.sqlite.rows import ARTICLES_WITH_TEXT, article

ARTICLES_AT_ONCE = 50
IOCS_AT_ONCE = 500


Clock = Callable[[], datetime]


class Redo(Protocol):
    """Redoes some records after a `seq`: how many, and the last one's `seq`; None where there are none left."""

    def __call__(self, connection: sqlite3.Connection, *, after: int) -> tuple[int, int] | None: ...


async def reindex(database: Database, clock: Clock, progress: Progress) -> None:
    """Articles and their clusters first, then the indicators derived from them, then what belongs to nothing."""
    await _walk(database, progress, "articles", partial(_redo_articles, clock=clock))
    await _walk(database, progress, "iocs", partial(_redo_iocs, clock=clock))
    await database.write(_drop_strays)


async def _walk(database: Database, progress: Progress, noun: str, redo: Redo) -> None:
    """Goes through a table by `seq`; what is written meanwhile brings its own words along."""
    done, seq = 0, 0
    total = await database.read(lambda connection: _count(connection, noun))
    progress(noun, 0, total)
    while found := await database.write(partial(redo, after=seq)):
        count, seq = found
        done = min(done + count, total)
        progress(noun, done, total)
    progress(noun, total, total)


def _count(connection: sqlite3.Connection, noun: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {noun}").fetchone()
    return int(count)


def _redo_articles(connection: sqlite3.Connection, *, after: int, clock: Clock) -> tuple[int, int] | None:
    sql = f"{ARTICLES_WITH_TEXT} WHERE seq > ? ORDER BY seq LIMIT ?"
    rows = connection.execute(sql, (after, ARTICLES_AT_ONCE)).fetchall()
    deriving.begin(connection)
    for row in rows:
        write_words(connection, row["seq"], article(row, row["text"]))
        deriving.count_cluster(connection, row["cluster_id"])
    deriving.derive(connection, clock())
    return (len(rows), rows[-1]["seq"]) if rows else None


def _redo_iocs(connection: sqlite3.Connection, *, after: int, clock: Clock) -> tuple[int, int] | None:
    sql = "SELECT seq, id, type, value FROM iocs WHERE seq > ? ORDER BY seq LIMIT ?"
    rows = connection.execute(sql, (after, IOCS_AT_ONCE)).fetchall()
    addresses = [(ip_bytes(row["value"]), row["seq"]) for row in rows if row["type"] == "ip"]
    connection.executemany("UPDATE iocs SET ip = ? WHERE seq = ?", addresses)
    deriving.begin(connection)
    deriving.changed(connection, [row["id"] for row in rows])
    deriving.derive(connection, clock(), rewrite_words=True)
    return (len(rows), rows[-1]["seq"]) if rows else None


def _drop_strays(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM ioc_words WHERE rowid NOT IN (SELECT seq FROM iocs)")
    connection.execute("DELETE FROM article_words WHERE rowid NOT IN (SELECT seq FROM articles)")
    connection.execute("DELETE FROM ioc_totals")
    connection.execute("INSERT INTO ioc_totals (type, iocs) SELECT type, count(*) FROM iocs GROUP BY type")
