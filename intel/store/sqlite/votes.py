"""Votes on indicators; one row for each account and indicator."""

from __future__ import annotations

from collections.abc import Sequence

from intel.records import Vote
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_json, to_row


class SqliteVotes:
    """The votes of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, vote: Vote) -> None:
        row = to_row(vote)
        await self._database.write(lambda connection: connection.execute(_PUT, row))

    async def withdraw(self, ioc_id: str, account_id: str) -> bool:
        asked = (ioc_id, account_id)
        return await self._database.write(lambda connection: connection.execute(_WITHDRAW, asked).rowcount == 1)

    async def counts(self, ioc_ids: Sequence[str]) -> dict[str, int]:
        asked = (to_json(list(ioc_ids)),)
        return await self._database.read(lambda connection: dict(map(tuple, connection.execute(_COUNTS, asked))))

    async def of(self, ioc_id: str) -> tuple[Vote, ...]:
        return await self._database.read(
            lambda connection: tuple(from_row(Vote, row) for row in connection.execute(_OF, (ioc_id,)))
        )


_PUT = "REPLACE INTO votes (ioc_id, account_id, note, voted_at) VALUES (:ioc_id, :account_id, :note, :voted_at)"
_WITHDRAW = "DELETE FROM votes WHERE ioc_id = ? AND account_id = ?"
_COUNTS = """
    SELECT ioc_id, count(*) FROM votes WHERE ioc_id IN (SELECT value FROM json_each(?)) GROUP BY ioc_id
"""
_OF = "SELECT * FROM votes WHERE ioc_id = ? ORDER BY voted_at, account_id LIMIT 1000"
