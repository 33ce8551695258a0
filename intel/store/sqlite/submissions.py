"""Submissions; each change is one step of its own, so that of any number at once one wins."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import fields
from datetime import datetime

from intel.records import Submission
from intel.store.port import BOUNDS, FIRST_OF_AN_ACCOUNT, WaitingBounds
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import milliseconds, moment
from intel.times import from_milliseconds, to_milliseconds


class SqliteSubmissions:
    """The submissions of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, submission: Submission, bounds: WaitingBounds = BOUNDS) -> Submission:
        def work(connection: sqlite3.Connection) -> Submission:
            if kept := connection.execute(_KEPT, (submission.id,)).fetchone():
                return _submission(kept)
            if not submission.ended:
                bounds.check(*connection.execute(_COUNT_UNENDED, (submission.account_id,)).fetchone())
            connection.execute(_ADD, _row(submission))
            return submission

        return await self._database.write(work)

    async def all_of(self, account_id: str) -> AsyncIterator[Submission]:
        async for row in self._database.stream("SELECT * FROM submissions WHERE account_id = ?", (account_id,)):
            yield _submission(row)

    async def submitters(self, article_id: str) -> frozenset[str]:
        rows = await self._database.read(lambda connection: connection.execute(_SUBMITTERS, (article_id,)).fetchall())
        return frozenset(row["account_id"] for row in rows)

    async def remove(self, submission: Submission) -> bool:
        row = {name: value for name, value in _row(submission).items() if name in ("id", "status", "attempts")}
        return await self._database.write(lambda connection: connection.execute(_REMOVE, row).rowcount == 1)

    async def get(self, id: str) -> Submission | None:
        row = await self._database.read(lambda connection: connection.execute(_GET, (id,)).fetchone())
        return _submission(row) if row else None

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Submission | None:
        claim = {"id": id, "now": to_milliseconds(now), "lease_until": to_milliseconds(lease_until)}
        row = await self._database.write(lambda connection: connection.execute(_CLAIM, claim).fetchone())
        return _submission(row) if row else None

    async def update(self, submission: Submission) -> bool:
        return await self._write_back(submission, submission.attempts)

    async def hand_back(self, submission: Submission) -> bool:
        return await self._write_back(submission, submission.attempts + 1)

    async def due(self, now: datetime, limit: int) -> tuple[Submission, ...]:
        asked = (to_milliseconds(now), FIRST_OF_AN_ACCOUNT, limit)
        rows = await self._database.read(lambda connection: connection.execute(_DUE, asked).fetchall())
        return tuple(map(_submission, rows))

    async def _write_back(self, submission: Submission, claimed: int) -> bool:
        row = _row(submission) | {"claimed": claimed}
        return await self._database.write(lambda connection: connection.execute(_UPDATE, row).rowcount == 1)


def _row(submission: Submission) -> dict[str, str | int | None]:
    return {
        "id": submission.id,
        "account_id": submission.account_id,
        "url": submission.url,
        "source_name": submission.source_name,
        "status": submission.status,
        "created_at": to_milliseconds(submission.created_at),
        "due_at": to_milliseconds(submission.due_at),
        "attempts": submission.attempts,
        "first_attempt_at": milliseconds(submission.first_attempt_at),
        "reason": submission.reason,
        "detail": submission.detail,
        "article_id": submission.article_id,
        "ioc_count": submission.ioc_count,
        "ioc_dropped": submission.ioc_dropped,
        "finished_at": milliseconds(submission.finished_at),
        "again": int(submission.again),
        "put_off": submission.put_off,
    }


def _submission(row: sqlite3.Row) -> Submission:
    return Submission(
        id=row["id"],
        account_id=row["account_id"],
        url=row["url"],
        source_name=row["source_name"],
        status=row["status"],
        created_at=from_milliseconds(row["created_at"]),
        due_at=from_milliseconds(row["due_at"]),
        attempts=row["attempts"],
        first_attempt_at=moment(row["first_attempt_at"]),
        reason=row["reason"],
        detail=row["detail"],
        article_id=row["article_id"],
        ioc_count=row["ioc_count"],
        ioc_dropped=row["ioc_dropped"],
        finished_at=moment(row["finished_at"]),
        again=bool(row["again"]),
        put_off=row["put_off"],
    )


_FIELDS = tuple(field.name for field in fields(Submission))
_ASSIGNED = ", ".join(f"{name} = :{name}" for name in _FIELDS)
_UNENDED = "status IN ('queued', 'fetching')"
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
