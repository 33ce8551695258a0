"""Who did what."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from intel.audit import AuditEntry
from intel.store.audit import MOST_KEPT
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row


class SqliteAudit:
    """The audit log of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, entry: AuditEntry, most_kept: int = MOST_KEPT) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_ADD, to_row(entry))
            connection.execute(_LET_GO, (most_kept - 1,))

        await self._database.write(work)

    async def newest(self, limit: int, before: str | None = None) -> Sequence[AuditEntry]:
        asked = {"before": before, "limit": limit}
        rows = await self._database.read(lambda connection: connection.execute(_NEWEST, asked).fetchall())
        return tuple(from_row(AuditEntry, row) for row in rows)


_ADD = """
    INSERT INTO audit (id, done_at, actor, action, target, detail)
    VALUES (:id, :done_at, :actor, :action, :target, :detail)
    ON CONFLICT DO NOTHING
"""
_LET_GO = "DELETE FROM audit WHERE id < (SELECT id FROM audit ORDER BY id DESC LIMIT 1 OFFSET ?)"
_NEWEST = "SELECT * FROM audit WHERE :before IS NULL OR id < :before ORDER BY id DESC LIMIT :limit"
