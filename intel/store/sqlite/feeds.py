"""Feeds; each change is one conditional statement, so that of any number at once one wins."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime

from intel.records import Feed
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row
from intel.times import to_milliseconds


class SqliteFeeds:
    """The feeds of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, feed: Feed) -> bool:
        row = to_row(feed)
        return await self._database.write(lambda connection: connection.execute(_ADD, row).rowcount == 1)

    async def get(self, id: str) -> Feed | None:
        row = await self._database.read(lambda connection: connection.execute(_GET, (id,)).fetchone())
        return from_row(Feed, row) if row else None

    async def all(self) -> tuple[Feed, ...]:
        rows = await self._database.read(lambda connection: connection.execute(_ALL).fetchall())
        return tuple(from_row(Feed, row) for row in rows)

    async def update(self, feed: Feed) -> Feed | None:
        row = to_row(feed)
        found = await self._database.write(lambda connection: connection.execute(_UPDATE, row).fetchone())
        return from_row(Feed, found) if found else None

    async def remove(self, id: str) -> bool:
        return await self._database.write(lambda connection: connection.execute(_REMOVE, (id,)).rowcount == 1)

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Feed | None:
        claim = {"id": id, "now": to_milliseconds(now), "lease_until": to_milliseconds(lease_until)}
        row = await self._database.write(lambda connection: connection.execute(_CLAIM, claim).fetchone())
        return from_row(Feed, row) if row else None

    async def due(self, now: datetime, limit: int) -> tuple[Feed, ...]:
        asked = {"now": to_milliseconds(now), "limit": limit}
        rows = await self._database.read(lambda connection: connection.execute(_DUE_FIRST, asked).fetchall())
        return tuple(from_row(Feed, row) for row in rows)


_FIELDS = tuple(field.name for field in fields(Feed))
_ASSIGNED = ", ".join(f"{name} = :{name}" for name in _FIELDS if name != "revision")
_IS_DUE = """
    enabled AND ended_at IS NULL AND next_poll_at <= :now AND (lease_ends_at IS NULL OR lease_ends_at <= :now)
"""
_GET = "SELECT * FROM feeds WHERE id = ?"
_ALL = "SELECT * FROM feeds ORDER BY name, id"
_REMOVE = "DELETE FROM feeds WHERE id = ?"
_ADD = f"""
    INSERT INTO feeds ({", ".join(_FIELDS)}) VALUES ({", ".join(f":{name}" for name in _FIELDS)})
    ON CONFLICT (id) DO NOTHING
"""
_UPDATE = f"""
    UPDATE feeds SET {_ASSIGNED}, revision = revision + 1 WHERE id = :id AND revision = :revision RETURNING *
"""
_CLAIM = f"""
    UPDATE feeds SET lease_ends_at = :lease_until, revision = revision + 1 WHERE id = :id AND {_IS_DUE} RETURNING *
"""
_DUE_FIRST = f"SELECT * FROM feeds WHERE {_IS_DUE} ORDER BY next_poll_at, id LIMIT :limit"
