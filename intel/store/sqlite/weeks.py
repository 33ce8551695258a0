"""Revisions of the weekly roundups."""

from __future__ import annotations

import json
import sqlite3

from intel.records import Week
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import to_json
from intel.times import from_milliseconds, to_milliseconds


class SqliteWeeks:
    """The weekly roundups of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, week: Week) -> bool:
        row = (week.id, week.revision, week.basis, to_milliseconds(week.generated_at), to_json(week.body))
        return await self._database.write(lambda connection: connection.execute(_ADD, row).rowcount == 1)

    async def confirm(self, week: Week) -> None:
        row = (week.basis, week.id, week.revision)
        await self._database.write(lambda connection: connection.execute(_CONFIRM, row))

    async def get(self, id: str, revision: int | None = None) -> Week | None:
        asked = (id, revision, revision)
        row = await self._database.read(lambda connection: connection.execute(_GET, asked).fetchone())
        return _week(row) if row else None


def _week(row: sqlite3.Row) -> Week:
    return Week(
        id=row["id"],
        revision=row["revision"],
        basis=row["basis"],
        generated_at=from_milliseconds(row["generated_at"]),
        body=json.loads(row["body"]),
    )


_ADD = "INSERT INTO weeks (id, revision, basis, generated_at, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_CONFIRM = "UPDATE weeks SET basis = ? WHERE id = ? AND revision = ?"
_GET = "SELECT * FROM weeks WHERE id = ? AND (? IS NULL OR revision = ?) ORDER BY revision DESC LIMIT 1"
