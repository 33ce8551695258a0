"""Files that were handed in, each a row with its bytes."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from intel.records import HandedFile
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row
from intel.store.waiting import FILE_BOUNDS, FileBounds
from intel.times import to_milliseconds


class SqliteFiles:
    """The files of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, file: HandedFile, body: bytes, bounds: FileBounds = FILE_BOUNDS) -> None:
        row = to_row(file) | {"body": body}

        def work(connection: sqlite3.Connection) -> None:
            bounds.check(file.size, *connection.execute(_SIZES, (file.account_id,)).fetchone())
            connection.execute(_ADD, row)

        await self._database.write(work)

    async def get(self, id: str) -> bytes | None:
        row = await self._database.read(lambda connection: connection.execute(_BODY, (id,)).fetchone())
        return None if row is None else bytes(row["body"])

    async def remove(self, id: str) -> None:
        await self._database.write(lambda connection: connection.execute(_REMOVE, (id,)))

    async def before(self, moment: datetime, limit: int) -> tuple[HandedFile, ...]:
        asked = (to_milliseconds(moment), limit)
        rows = await self._database.read(lambda connection: connection.execute(_BEFORE, asked).fetchall())
        return tuple(from_row(HandedFile, row) for row in rows)


_MEMBERS = "id, account_id, submission_id, size, created_at"
_ADD = f"INSERT INTO files ({_MEMBERS}, body) VALUES (:id, :account_id, :submission_id, :size, :created_at, :body)"
_BODY = "SELECT body FROM files WHERE id = ?"
_REMOVE = "DELETE FROM files WHERE id = ?"
_BEFORE = f"SELECT {_MEMBERS} FROM files WHERE created_at < ? ORDER BY created_at, id LIMIT ?"
_SIZES = """
    SELECT coalesce(sum(size), 0), coalesce(sum(size) FILTER (WHERE account_id = ?), 0)
    FROM files INDEXED BY files_by_age
"""
