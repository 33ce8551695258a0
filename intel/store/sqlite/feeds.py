"""Feeds; each change is one conditional statement, so that of any number at once one wins."""

from __future__ import annotations

import sqlite3
from dataclasses import fields
from datetime import datetime

from intel.records import Feed
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import milliseconds, moment
from intel.times import from_milliseconds, to_milliseconds


class SqliteFeeds:
    """The feeds of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, feed: Feed) -> bool:
        row = _row(feed)
        return await self._database.write(lambda connection: connection.execute(_ADD, row).rowcount == 1)

    async def get(self, id: str) -> Feed | None:
        row = await self._database.read(lambda connection: connection.execute(_GET, (id,)).fetchone())
        return _feed(row) if row else None

    async def all(self) -> tuple[Feed, ...]:
        rows = await self._database.read(lambda connection: connection.execute(_ALL).fetchall())
        return tuple(map(_feed, rows))

    async def update(self, feed: Feed) -> Feed | None:
        row = _row(feed)
        found = await self._database.write(lambda connection: connection.execute(_UPDATE, row).fetchone())
        return _feed(found) if found else None

    async def remove(self, id: str) -> bool:
        return await self._database.write(lambda connection: connection.execute(_REMOVE, (id,)).rowcount == 1)

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Feed | None:
        claim = {"id": id, "now": to_milliseconds(now), "lease_until": to_milliseconds(lease_until)}
        row = await self._database.write(lambda connection: connection.execute(_CLAIM, claim).fetchone())
        return _feed(row) if row else None

    async def due(self, now: datetime, limit: int) -> tuple[Feed, ...]:
        asked = {"now": to_milliseconds(now), "limit": limit}
        rows = await self._database.read(lambda connection: connection.execute(_DUE_FIRST, asked).fetchall())
        return tuple(map(_feed, rows))


def _row(feed: Feed) -> dict[str, str | int | None]:
    return {
        "id": feed.id,
        "url": feed.url,
        "name": feed.name,
        "created_at": to_milliseconds(feed.created_at),
        "next_poll_at": to_milliseconds(feed.next_poll_at),
        "enabled": int(feed.enabled),
        "revision": feed.revision,
        "interval_seconds": feed.interval_seconds,
        "etag": feed.etag,
        "last_modified": feed.last_modified,
        "lease_ends_at": milliseconds(feed.lease_ends_at),
        "last_polled_at": milliseconds(feed.last_polled_at),
        "last_success_at": milliseconds(feed.last_success_at),
        "failures": feed.failures,
        "last_error": feed.last_error,
        "ended_at": milliseconds(feed.ended_at),
    }


def _feed(row: sqlite3.Row) -> Feed:
    return Feed(
        id=row["id"],
        url=row["url"],
        name=row["name"],
        created_at=from_milliseconds(row["created_at"]),
        next_poll_at=from_milliseconds(row["next_poll_at"]),
        enabled=bool(row["enabled"]),
        revision=row["revision"],
        interval_seconds=row["interval_seconds"],
        etag=row["etag"],
        last_modified=row["last_modified"],
        lease_ends_at=moment(row["lease_ends_at"]),
        last_polled_at=moment(row["last_polled_at"]),
        last_success_at=moment(row["last_success_at"]),
        failures=row["failures"],
        last_error=row["last_error"],
        ended_at=moment(row["ended_at"]),
    )


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
