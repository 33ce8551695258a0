"""Catalogues; each import is one transaction, so that readers meet a whole one."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime

from intel.records import Catalogue
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_json, to_row
from intel.times import from_milliseconds


class SqliteCatalogues:
    """The catalogues of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, catalogue: Catalogue, parts: Mapping[str, bytes], over: int | None = None) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            row = _row(connection, catalogue.name)
            standing = row["generation"] if row else 0
            if over not in (None, standing):
                return False
            connection.execute(_PUT, to_row(catalogue) | {"generation": standing + 1})
            connection.execute("DELETE FROM catalogue_parts WHERE name = ?", (catalogue.name,))
            connection.executemany(_ADD_PART, ((catalogue.name, key, body) for key, body in parts.items()))

            return True

        return await self._database.write(work)

    async def get(self, name: str) -> tuple[Catalogue, int] | None:
        row = await self._database.read_at_once(lambda connection: _row(connection, name))
        return None if row is None else (from_row(Catalogue, row), row["generation"])

    async def all(self) -> tuple[Catalogue, ...]:
        sql = "SELECT * FROM catalogues ORDER BY name"
        return await self._database.read_at_once(
            lambda connection: tuple(from_row(Catalogue, row) for row in connection.execute(sql))
        )

    async def imported_at(self, name: str) -> datetime | None:
        def work(connection: sqlite3.Connection) -> datetime | None:
            row = _row(connection, name)
            return None if row is None else from_milliseconds(row["imported_at"])

        return await self._database.read_unless_kept(("imported", name), work)

    async def parts(self, name: str, keys: Sequence[str]) -> dict[str, bytes]:
        asked = (name, to_json(list(keys)))
        return await self._database.read(lambda connection: dict(map(tuple, connection.execute(_PARTS, asked))))


def _row(connection: sqlite3.Connection, name: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("SELECT * FROM catalogues WHERE name = ?", (name,)).fetchone()
    return row


_PUT = """
    INSERT INTO catalogues (name, as_of, imported_at, source, entries, generation)
    VALUES (:name, :as_of, :imported_at, :source, :entries, :generation)
    ON CONFLICT (name) DO UPDATE SET as_of = excluded.as_of, imported_at = excluded.imported_at,
        source = excluded.source, entries = excluded.entries, generation = excluded.generation
"""
_ADD_PART = "INSERT INTO catalogue_parts (name, key, body) VALUES (?, ?, ?)"
_PARTS = "SELECT key, body FROM catalogue_parts WHERE name = ? AND key IN (SELECT value FROM json_each(?))"
