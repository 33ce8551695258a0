"""Votes on indicators; one row for each account and indicator."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from intel.records import Vote
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, id_bytes, to_row


class SqliteVotes:
    """The votes of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, vote: Vote) -> None:
        row = to_row(vote) | {"ioc_id": id_bytes(vote.ioc_id)}
        await self._database.write(lambda connection: connection.execute(_PUT, row))

    async def withdraw(self, ioc_id: str, account_id: str) -> bool:
        asked = (id_bytes(ioc_id), account_id)
        return await self._database.write(lambda connection: connection.execute(_WITHDRAW, asked).rowcount == 1)

    async def counts(self, ioc_ids: Sequence[str]) -> dict[str, int]:
        return await self._database.read(lambda connection: count_votes(connection, ioc_ids))

    async def of(self, ioc_id: str) -> tuple[Vote, ...]:
        asked = (id_bytes(ioc_id),)
        rows = await self._database.read(lambda connection: connection.execute(_OF, asked).fetchall())
        return tuple(from_row(Vote, {**dict(row), "ioc_id": ioc_id}) for row in rows)


def count_votes(connection: sqlite3.Connection, ioc_ids: Sequence[str]) -> dict[str, int]:
    """Return how many votes there are on each of these indicators that has any."""
    counts = {id: connection.execute(_COUNT, (id_bytes(id),)).fetchone()[0] for id in dict.fromkeys(ioc_ids)}
    return {id: count for id, count in counts.items() if count}


_PUT = "REPLACE INTO votes (ioc_id, account_id, note, voted_at) VALUES (:ioc_id, :account_id, :note, :voted_at)"
_WITHDRAW = "DELETE FROM votes WHERE ioc_id = ? AND account_id = ?"
_COUNT = "SELECT count(*) FROM votes WHERE ioc_id = ?"
_OF = "SELECT * FROM votes WHERE ioc_id = ? ORDER BY voted_at, account_id LIMIT 1000"
