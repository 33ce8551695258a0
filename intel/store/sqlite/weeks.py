"""Revisions of the weekly roundups."""

from __future__ import annotations

from intel.records import Week
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row


class SqliteWeeks:
    """The weekly roundups of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, week: Week) -> bool:
        row = to_row(week)
        return await self._database.write(lambda connection: connection.execute(_ADD, row).rowcount == 1)

    async def confirm(self, week: Week) -> None:
        row = (week.basis, week.id, week.revision)
        await self._database.write(lambda connection: connection.execute(_CONFIRM, row))

    async def get(self, id: str, revision: int | None = None) -> Week | None:
        asked = (id, revision, revision)
        row = await self._database.read(lambda connection: connection.execute(_GET, asked).fetchone())
        return from_row(Week, row) if row else None


_ADD = """
    INSERT INTO weeks (id, revision, basis, generated_at, body)
    VALUES (:id, :revision, :basis, :generated_at, :body) ON CONFLICT DO NOTHING
"""
_CONFIRM = "UPDATE weeks SET basis = ? WHERE id = ? AND revision = ?"
_GET = "SELECT * FROM weeks WHERE id = ? AND (? IS NULL OR revision = ?) ORDER BY revision DESC LIMIT 1"
