"""Marks of warning lists: a column beside each indicator."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Mapping

from intel.store.marks import Marked
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import id_bytes, id_text

_AT_ONCE = 1_000


class SqliteMarks:
    """The marks of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def basis(self) -> str:
        return await self._database.read_unless_kept(_basis, _basis)

    async def settle(self, basis: str) -> None:
        sql = "REPLACE INTO warned_basis (only, basis) VALUES (1, ?)"
        await self._database.write(lambda connection: connection.execute(sql, (basis,)))

    async def every(self) -> AsyncGenerator[tuple[Marked, ...], None]:
        seq = 0
        while rows := await self._database.read(lambda connection, seq=seq: _some(connection, seq)):  # type: ignore[misc]  # mypy infers no default
            yield tuple(Marked(id_text(row["id"]), row["type"], row["value"], bool(row["warned"])) for row in rows)
            seq = rows[-1]["seq"]

    async def mark(self, warned: Mapping[str, bool]) -> None:
        rows = [(mark, id_bytes(id)) for id, mark in warned.items()]
        await self._database.write(lambda connection: connection.executemany(_MARK, rows))


def _basis(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT basis FROM warned_basis").fetchone()
    return row["basis"] if row else ""


def _some(connection: sqlite3.Connection, seq: int) -> list[sqlite3.Row]:
    return connection.execute(_SOME, (seq, _AT_ONCE)).fetchall()


_SOME = "SELECT seq, id, type, value, warned FROM iocs WHERE seq > ? ORDER BY seq LIMIT ?"
_MARK = "UPDATE iocs SET warned = ? WHERE id = ?"
