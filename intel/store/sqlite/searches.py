"""Saved searches and their deliveries; each change is one step, so that of any number at once one wins."""

from __future__ import annotations

import sqlite3
from dataclasses import fields
from datetime import datetime

from intel.errors import SearchLimitReached
from intel.saved_searches import Delivery, SavedSearch
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row
from intel.times import to_milliseconds


class SqliteSearches:
    """The saved searches of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, search: SavedSearch, most: int) -> None:
        def work(connection: sqlite3.Connection) -> None:
            (count,) = connection.execute(_COUNT, (search.account_id,)).fetchone()
            if count >= most:
                raise SearchLimitReached(most)
            connection.execute(_ADD, to_row(search))

        await self._database.write(work)

    async def get(self, id: str) -> SavedSearch | None:
        row = await self._database.read(lambda connection: connection.execute(_GET, (id,)).fetchone())
        return from_row(SavedSearch, row) if row else None

    async def of(self, account_id: str) -> tuple[SavedSearch, ...]:
        rows = await self._database.read(lambda connection: connection.execute(_OF, (account_id,)).fetchall())
        return tuple(from_row(SavedSearch, row) for row in rows)

    async def update(self, search: SavedSearch) -> SavedSearch | None:
        row = to_row(search)
        found = await self._database.write(lambda connection: connection.execute(_UPDATE, row).fetchone())
        return from_row(SavedSearch, found) if found else None

    async def remove(self, id: str) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM deliveries WHERE search_id = ?", (id,))
            return connection.execute("DELETE FROM searches WHERE id = ?", (id,)).rowcount == 1

        return await self._database.write(work)

    async def any_told(self) -> bool:
        (found,) = await self._database.read(lambda connection: connection.execute(_ANY_TOLD).fetchone())
        return bool(found)

    async def behind(self, number: int, now: datetime, limit: int) -> tuple[SavedSearch, ...]:
        asked = {"number": number, "now": to_milliseconds(now), "limit": limit}
        rows = await self._database.read(lambda connection: connection.execute(_BEHIND, asked).fetchall())
        return tuple(from_row(SavedSearch, row) for row in rows)


class SqliteDeliveries:
    """The deliveries of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, delivery: Delivery) -> None:
        await self._database.write(lambda connection: connection.execute(_PUT, to_row(delivery)))

    async def get(self, id: str) -> Delivery | None:
        row = await self._database.read(lambda connection: connection.execute(_GET_ONE, (id,)).fetchone())
        return from_row(Delivery, row) if row else None

    async def of(self, search_id: str, limit: int, before: str | None = None) -> tuple[Delivery, ...]:
        asked = (search_id, before or "~", limit)
        rows = await self._database.read(lambda connection: connection.execute(_OF_SEARCH, asked).fetchall())
        return tuple(from_row(Delivery, row) for row in rows)

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Delivery | None:
        claim = {"id": id, "now": to_milliseconds(now), "lease_until": to_milliseconds(lease_until)}
        row = await self._database.write(lambda connection: connection.execute(_CLAIM, claim).fetchone())
        return from_row(Delivery, row) if row else None

    async def update(self, delivery: Delivery) -> bool:
        row = to_row(delivery)
        return await self._database.write(lambda connection: connection.execute(_WRITE_BACK, row).rowcount == 1)

    async def due(self, now: datetime, limit: int) -> tuple[Delivery, ...]:
        asked = (to_milliseconds(now), limit)
        rows = await self._database.read(lambda connection: connection.execute(_DUE, asked).fetchall())
        return tuple(from_row(Delivery, row) for row in rows)

    async def count(self, search_id: str) -> tuple[int, int]:
        found = await self._database.read(lambda connection: connection.execute(_COUNT_OF, (search_id,)).fetchone())
        return found[0], found[1]

    async def remove(self, id: str) -> None:
        await self._database.write(lambda connection: connection.execute("DELETE FROM deliveries WHERE id = ?", (id,)))


_FIELDS = tuple(field.name for field in fields(SavedSearch))
_ASSIGNED = ", ".join(f"{name} = :{name}" for name in _FIELDS if name != "revision")
_COUNT = "SELECT count(*) FROM searches WHERE account_id = ?"
_ADD = f"INSERT INTO searches ({', '.join(_FIELDS)}) VALUES ({', '.join(f':{name}' for name in _FIELDS)})"
_GET = "SELECT * FROM searches WHERE id = ?"
_OF = "SELECT * FROM searches WHERE account_id = ? ORDER BY created_at, id LIMIT 1000"
_UPDATE = f"""
    UPDATE searches SET {_ASSIGNED}, revision = revision + 1 WHERE id = :id AND revision = :revision RETURNING *
"""
_ANY_TOLD = "SELECT EXISTS (SELECT 1 FROM searches WHERE enabled AND (webhook_url IS NOT NULL OR email IS NOT NULL))"
_BEHIND = """
    SELECT * FROM searches
    WHERE enabled AND (lease_ends_at IS NULL OR lease_ends_at <= :now) AND (
        outbox <> '{}'
        OR (webhook_url IS NOT NULL AND webhook_number < :number)
        OR (email IS NOT NULL AND mail_due_at <= :now AND mail_number < :number)
    )
    ORDER BY id LIMIT :limit
"""
_PARTS = tuple(field.name for field in fields(Delivery))
_PUT = f"""
    INSERT INTO deliveries ({", ".join(_PARTS)}) VALUES ({", ".join(f":{name}" for name in _PARTS)})
    ON CONFLICT (id) DO NOTHING
"""
_GET_ONE = "SELECT * FROM deliveries WHERE id = ?"
_OF_SEARCH = "SELECT * FROM deliveries WHERE search_id = ? AND id < ? ORDER BY id DESC LIMIT ?"
_CLAIM = """
    UPDATE deliveries SET attempts = attempts + 1, due_at = :lease_until
    WHERE id = :id AND status = 'pending' AND due_at <= :now RETURNING *
"""
_WRITE_BACK = f"""
    UPDATE deliveries SET {", ".join(f"{name} = :{name}" for name in _PARTS)} WHERE id = :id AND attempts = :attempts
"""
_DUE = """
    SELECT deliveries.* FROM deliveries JOIN (
        SELECT id, row_number() OVER (PARTITION BY search_id ORDER BY due_at, id) AS place
        FROM deliveries INDEXED BY deliveries_pending WHERE status = 'pending' AND due_at <= ?
    ) USING (id) WHERE place = 1 ORDER BY due_at, id LIMIT ?
"""
_COUNT_OF = "SELECT count(*), count(*) FILTER (WHERE status = 'pending') FROM deliveries WHERE search_id = ?"
