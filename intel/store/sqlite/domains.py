"""Blocked domains."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import to_json
from intel.times import from_milliseconds, to_milliseconds


class SqliteDomains:
    """The blocked domains of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def block(self, domain: str, now: datetime) -> bool:
        row = (domain, to_milliseconds(now))
        return await self._database.write(lambda connection: connection.execute(_BLOCK, row).rowcount == 1)

    async def unblock(self, domain: str) -> bool:
        return await self._database.write(lambda connection: connection.execute(_UNBLOCK, (domain,)).rowcount == 1)

    async def blocked(self) -> dict[str, datetime]:
        rows = await self._database.read(lambda connection: connection.execute(_ALL).fetchall())
        return {row["domain"]: from_milliseconds(row["blocked_at"]) for row in rows}

    async def any_blocked(self, domains: Sequence[str]) -> bool:
        asked = (to_json(list(domains)),)
        row = await self._database.read(lambda connection: connection.execute(_ANY, asked).fetchone())
        return row is not None


_BLOCK = "INSERT INTO blocked_domains (domain, blocked_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
_UNBLOCK = "DELETE FROM blocked_domains WHERE domain = ?"
_ALL = "SELECT domain, blocked_at FROM blocked_domains ORDER BY domain"
_ANY = "SELECT 1 FROM blocked_domains WHERE domain IN (SELECT value FROM json_each(?)) LIMIT 1"
