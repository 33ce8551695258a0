"""What readers call wrong: one row for each account and candidate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import fields

from intel.feedback import Feedback
from intel.store.feedback import MOST_OF_AN_ARTICLE
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row


class SqliteFeedbacks:
    """The feedback in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, feedback: Feedback) -> None:
        row = to_row(feedback)
        await self._database.write(lambda connection: connection.execute(_PUT, row))

    async def withdraw(self, id: str) -> bool:
        return await self._database.write(lambda connection: connection.execute(_WITHDRAW, (id,)).rowcount == 1)

    async def of(self, article_id: str, account_id: str) -> tuple[Feedback, ...]:
        asked = (article_id, account_id, MOST_OF_AN_ARTICLE)
        rows = await self._database.read(lambda connection: connection.execute(_OF, asked).fetchall())
        return tuple(from_row(Feedback, row) for row in rows)

    async def all(self) -> AsyncIterator[Feedback]:
        async for row in self._database.stream(_ALL, ()):
            yield from_row(Feedback, dict(zip(_MEMBERS, row, strict=True)))


_MEMBERS = tuple(field.name for field in fields(Feedback))
_PUT = f"REPLACE INTO feedback ({', '.join(_MEMBERS)}) VALUES ({', '.join(f':{name}' for name in _MEMBERS)})"
_WITHDRAW = "DELETE FROM feedback WHERE id = ?"
_OF = "SELECT * FROM feedback WHERE article_id = ? AND account_id = ? ORDER BY id LIMIT ?"
_ALL = f"SELECT {', '.join(_MEMBERS)} FROM feedback ORDER BY id"
