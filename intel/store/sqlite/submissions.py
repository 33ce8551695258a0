"""Submissions; each change is one step of its own, so that of any number at once one wins."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import fields
from datetime import datetime

from intel.query import Page, Position
from intel.records import Submission
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row
from intel.store.waiting import BOUNDS, FIRST_OF_AN_ACCOUNT, WaitingBounds
from intel.times import to_milliseconds


class SqliteSubmissions:
    """The submissions of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, submission: Submission, bounds: WaitingBounds = BOUNDS) -> Submission:
        def work(connection: sqlite3.Connection) -> Submission:
            if kept := connection.execute(_KEPT, (submission.id,)).fetchone():
                return from_row(Submission, kept)
            if not submission.ended:
                bounds.check(*connection.execute(_COUNT_UNENDED, (submission.account_id,)).fetchone())
            connection.execute(_ADD, to_row(submission))
            return submission

        return await self._database.write(work)

    async def all_of(self, account_id: str) -> AsyncIterator[Submission]:
        async for row in self._database.stream("SELECT * FROM submissions WHERE account_id = ?", (account_id,)):
            yield from_row(Submission, row)

    async def page_of(self, account_id: str, limit: int, after: Position | None = None) -> Page[Submission]:
        last, id = after.values if after else (_LATEST, "")
        asked = {"account_id": account_id, "last": last, "id": id, "most": limit + 1}

        def work(connection: sqlite3.Connection) -> Page[Submission]:
            rows = connection.execute(_PAGE, asked).fetchall()
            total = connection.execute(_COUNT_OF, (account_id,)).fetchone()[0] if after is None else None
            shown = rows[:limit]
            next = Position((shown[-1]["created_at"], shown[-1]["id"])) if len(rows) > limit else None
            return Page(tuple(from_row(Submission, row) for row in shown), total, next)

        return await self._database.read(work)

    async def submitters(self, article_id: str) -> frozenset[str]:
        rows = await self._database.read(lambda connection: connection.execute(_SUBMITTERS, (article_id,)).fetchall())
        return frozenset(row["account_id"] for row in rows)

    async def remove(self, submission: Submission) -> bool:
        row = {name: value for name, value in to_row(submission).items() if name in ("id", "status", "attempts")}
        return await self._database.write(lambda connection: connection.execute(_REMOVE, row).rowcount == 1)

    async def get(self, id: str) -> Submission | None:
        row = await self._database.read(lambda connection: connection.execute(_GET, (id,)).fetchone())
        return from_row(Submission, row) if row else None

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Submission | None:
        claim = {"id": id, "now": to_milliseconds(now), "lease_until": to_milliseconds(lease_until)}
        row = await self._database.write(lambda connection: connection.execute(_CLAIM, claim).fetchone())
        return from_row(Submission, row) if row else None

    async def update(self, submission: Submission) -> bool:
        return await self._write_back(submission, submission.attempts)

    async def hand_back(self, submission: Submission) -> bool:
        return await self._write_back(submission, submission.attempts + 1)

    async def due(self, now: datetime, limit: int) -> tuple[Submission, ...]:
        asked = (to_milliseconds(now), FIRST_OF_AN_ACCOUNT, limit)
        rows = await self._database.read(lambda connection: connection.execute(_DUE, asked).fetchall())
        return tuple(from_row(Submission, row) for row in rows)

    async def _write_back(self, submission: Submission, claimed: int) -> bool:
        row = to_row(submission) | {"claimed": claimed}
        return await self._database.write(lambda connection: connection.execute(_UPDATE, row).rowcount == 1)


_FIELDS = tuple(field.name for field in fields(Submission))
_ASSIGNED = ", ".join(f"{name} = :{name}" for name in _FIELDS)
_UNENDED = "status IN ('queued', 'fetching')"
_LATEST = 2**63 - 1
_PAGE = """
    SELECT * FROM submissions
    WHERE account_id = :account_id AND created_at <= :last AND (created_at < :last OR id > :id)
    ORDER BY created_at DESC, id LIMIT :most
"""
_COUNT_OF = "SELECT count(*) FROM submissions WHERE account_id = ?"
_GET = "SELECT * FROM submissions WHERE id = ?"
_REPLACEABLE = """(
    status = 'failed'
    OR (status = 'done' AND NOT EXISTS (SELECT 1 FROM articles AS a WHERE a.id = submissions.article_id))
)"""
_KEPT = f"SELECT * FROM submissions WHERE id = ? AND NOT {_REPLACEABLE}"
_ADD = f"""
    INSERT INTO submissions ({", ".join(_FIELDS)}) VALUES ({", ".join(f":{name}" for name in _FIELDS)})
    ON CONFLICT (id) DO UPDATE SET {_ASSIGNED}
    WHERE {_REPLACEABLE}
"""
_COUNT_UNENDED = f"SELECT count(*), count(*) FILTER (WHERE account_id = ?) FROM submissions WHERE {_UNENDED}"
_CLAIM = f"""
    UPDATE submissions SET status = 'fetching', attempts = attempts + 1, due_at = :lease_until,
        first_attempt_at = coalesce(first_attempt_at, :now)
    WHERE id = :id AND {_UNENDED} AND due_at <= :now RETURNING *
"""
_UPDATE = f"""
    UPDATE submissions SET {_ASSIGNED}
    WHERE id = :id AND {_UNENDED} AND attempts = :claimed AND created_at = :created_at
"""
_SUBMITTERS = "SELECT DISTINCT account_id FROM submissions WHERE article_id = ? AND NOT again LIMIT 1000"
_REMOVE = "DELETE FROM submissions WHERE id = :id AND status = :status AND attempts = :attempts"
_DUE = f"""
    SELECT submissions.* FROM submissions JOIN (
        SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY due_at, id) AS number
        FROM submissions WHERE {_UNENDED} AND due_at <= ?
    ) USING (id) ORDER BY number > ?, due_at, id LIMIT ?
"""
