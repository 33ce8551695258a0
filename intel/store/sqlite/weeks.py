"""Revisions of the weekly roundups."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from intel.records import Week
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row
from intel.store.taking_back import TAKEN_BACK
from intel.times import to_milliseconds


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

    async def take_back(self, since: datetime) -> None:
        await self._database.write(lambda connection: take_back(connection, since))

    async def get(self, id: str, revision: int | None = None) -> Week | None:
        asked = (id, revision, revision)
        row = await self._database.read_at_once(lambda connection: connection.execute(_GET, asked).fetchone())
        return from_row(Week, row) if row else None

    async def bases(self, id: str) -> dict[int, str]:
        return await self._database.read(lambda connection: dict(connection.execute(_BASES, (id,)).fetchall()))


def take_back(connection: sqlite3.Connection, since: datetime) -> None:
    """Empty every revision generated at that time or later."""
    connection.execute(_TAKE_BACK, {"taken_back": TAKEN_BACK, "since": to_milliseconds(since)})


_ADD = """
    INSERT INTO weeks (id, revision, basis, generated_at, body)
    VALUES (:id, :revision, :basis, :generated_at, :body) ON CONFLICT DO NOTHING
"""
_CONFIRM = "UPDATE weeks SET basis = ? WHERE id = ? AND revision = ?"
_TAKE_BACK = """
    UPDATE weeks SET basis = :taken_back, body = '{}' WHERE generated_at >= :since AND basis <> :taken_back
"""
_BASES = "SELECT revision, basis FROM weeks WHERE id = ? ORDER BY revision DESC LIMIT 10000"
_GET = "SELECT * FROM weeks WHERE id = ? AND (? IS NULL OR revision = ?) ORDER BY revision DESC LIMIT 1"
