"""Tags: a member of each record's row, and a table in which lists of a tag are read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

from intel.store.copying import Tagged
from intel.store.sqlite.changes import next_moment, take_numbers
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import id_bytes, id_text, to_json
from intel.store.sqlite.saving import note_annotated
from intel.store.tags import TaggedKind
from intel.tags import changed
from intel.times import to_milliseconds

# By kind: the table of its records, that of their tags, and the column by which that one names a record.
_TABLES: Final = MappingProxyType(
    {"ioc": ("iocs", "ioc_tags", "ioc_seq"), "article": ("articles", "article_tags", "article_seq")}
)


class SqliteTags:
    """The tags of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def change(
        self, kind: TaggedKind, id: str, add: Sequence[str], remove: Sequence[str] = ()
    ) -> tuple[str, ...] | None:
        now = to_milliseconds(self._clock())
        return await self._database.write(lambda connection: _change(connection, kind, id, add, remove, now))


def _change(
    connection: sqlite3.Connection, kind: TaggedKind, id: str, add: Sequence[str], remove: Sequence[str], now: int
) -> tuple[str, ...] | None:
    row = _row(connection, kind, id)
    if row is None:
        return None
    before = json.loads(row["tags"])
    after = changed(before, add, remove)
    if list(after) == before:
        return after
    _write(connection, kind, row["seq"], after)
    if kind == "ioc":
        (place,) = take_numbers(connection, 1, next_moment(connection, now))
        sql = "UPDATE iocs SET change_number = ?, changed_at = ? WHERE seq = ?"
        connection.execute(sql, (*place, row["seq"]))
    else:
        note_annotated(connection, row["seq"], now)
    return after


def _row(connection: sqlite3.Connection, kind: TaggedKind, id: str) -> sqlite3.Row | None:
    stored = id_bytes(id) if kind == "ioc" else id
    row: sqlite3.Row | None = connection.execute(
        f"SELECT seq, tags FROM {_TABLES[kind][0]} WHERE id = ?", (stored,)
    ).fetchone()
    return row


def _write(connection: sqlite3.Connection, kind: TaggedKind, seq: int, tags: Sequence[str]) -> None:
    table, listed, column = _TABLES[kind]
    connection.execute(f"UPDATE {table} SET tags = ? WHERE seq = ?", (to_json(tags), seq))
    connection.execute(f"DELETE FROM {listed} WHERE {column} = ?", (seq,))
    connection.executemany(f"INSERT INTO {listed} (tag, {column}) VALUES (?, ?)", ((tag, seq) for tag in tags))


def read_tagged(connection: sqlite3.Connection) -> Iterator[Tagged]:
    """Yield every record that has tags."""
    for row in connection.execute("SELECT id, tags FROM iocs WHERE tags <> '[]'"):
        yield Tagged("ioc", id_text(row["id"]), tuple(json.loads(row["tags"])))
    for row in connection.execute("SELECT id, tags FROM articles WHERE tags <> '[]'"):
        yield Tagged("article", row["id"], tuple(json.loads(row["tags"])))


def write_tagged(connection: sqlite3.Connection, records: Sequence[Tagged]) -> None:
    """Write the tags of records that are stored, without a change in the feed."""
    for one in records:
        row = _row(connection, one.kind, one.id)
        if row is not None:
            _write(connection, one.kind, row["seq"], one.tags)


COUNT_TAGGED: Final = """
    SELECT (SELECT count(*) FROM iocs WHERE tags <> '[]') + (SELECT count(*) FROM articles WHERE tags <> '[]')
"""
