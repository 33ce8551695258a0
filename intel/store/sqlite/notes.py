"""Notes on indicators and articles; one row for each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from intel.notes import Note, check_room
from intel.store.sqlite.changes import next_moment, take_numbers
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, id_bytes, to_row
from intel.store.tags import TaggedKind
from intel.times import to_milliseconds


class SqliteNotes:
    """The notes of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, note: Note) -> bool:
        now = to_milliseconds(self._clock())
        return await self._database.write(lambda connection: _add(connection, note, now))

    async def remove(self, kind: TaggedKind, record_id: str, id: str) -> bool:
        now = to_milliseconds(self._clock())
        return await self._database.write(lambda connection: _remove(connection, kind, record_id, id, now))

    async def of(self, record_ids: Sequence[str]) -> dict[str, tuple[Note, ...]]:
        return await self._database.read(lambda connection: _read(connection, record_ids))


def forget_notes(connection: sqlite3.Connection, record_ids: Sequence[str]) -> None:
    """Delete all notes on records that are gone."""
    connection.executemany("DELETE FROM notes WHERE record_id = ?", ((id,) for id in record_ids))


def _add(connection: sqlite3.Connection, note: Note, now: int) -> bool:
    seq = _seq(connection, note.kind, note.record_id)
    if seq is None:
        return False
    check_room(connection.execute(_COUNT, (note.record_id,)).fetchone()[0])
    connection.execute(_ADD, to_row(note))
    _tell(connection, note.kind, seq, now)
    return True


def _remove(connection: sqlite3.Connection, kind: TaggedKind, record_id: str, id: str, now: int) -> bool:
    if connection.execute(_REMOVE, (id, kind, record_id)).rowcount == 0:
        return False
    seq = _seq(connection, kind, record_id)
    if seq is not None:
        _tell(connection, kind, seq, now)
    return True


def _read(connection: sqlite3.Connection, record_ids: Sequence[str]) -> dict[str, tuple[Note, ...]]:
    found = {id: connection.execute(_OF, (id,)).fetchall() for id in dict.fromkeys(record_ids)}
    return {id: tuple(from_row(Note, row) for row in rows) for id, rows in found.items() if rows}


def _seq(connection: sqlite3.Connection, kind: TaggedKind, id: str) -> int | None:
    sql, stored = (_IOC, id_bytes(id)) if kind == "ioc" else (_ARTICLE, id)
    row = connection.execute(sql, (stored,)).fetchone()
    return None if row is None else int(row["seq"])


def _tell(connection: sqlite3.Connection, kind: TaggedKind, seq: int, now: int) -> None:
    if kind == "ioc":
        (place,) = take_numbers(connection, 1, next_moment(connection, now))
        connection.execute("UPDATE iocs SET change_number = ?, changed_at = ? WHERE seq = ?", (*place, seq))


_IOC: Final = "SELECT seq FROM iocs WHERE id = ?"
_ARTICLE: Final = "SELECT seq FROM articles WHERE id = ?"
_COUNT: Final = "SELECT count(*) FROM notes WHERE record_id = ?"
_ADD: Final = """
    INSERT INTO notes (id, kind, record_id, account_id, text, written_at)
    VALUES (:id, :kind, :record_id, :account_id, :text, :written_at)
"""
_REMOVE: Final = "DELETE FROM notes WHERE id = ? AND kind = ? AND record_id = ?"
_OF: Final = "SELECT * FROM notes WHERE record_id = ? ORDER BY written_at, id"
