"""What each revision of an article said; its long members compressed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from intel.query import CandidatePage, CandidateQuery
from intel.records import Reading
from intel.store.sqlite.connection import Database
from intel.store.weighing import candidates_in, page_of
from intel.times import from_milliseconds, to_milliseconds

# The level that the library would take packs in three times the time, for an eighth less.
_LEVEL = 3


class SqliteReadings:
    """The readings of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, reading: Reading) -> None:
        await self.put_many([reading])

    async def put_many(self, readings: Sequence[Reading]) -> None:
        # Packed before the lock on the file is taken, and beside whatever else this process does.
        rows = await asyncio.to_thread(lambda: [*map(reading_row, readings)])
        await self._database.write(lambda connection: connection.executemany(_PUT, rows))

    async def get(self, article_id: str, revision: int) -> Reading | None:
        asked = (article_id, revision)

        def work(connection: sqlite3.Connection) -> Reading | None:
            row = connection.execute(_GET, asked).fetchone()
            return reading_record(row) if row else None

        return await self._database.read(work)

    async def weighed(self, article_id: str, revision: int, query: CandidateQuery) -> CandidatePage | None:
        asked = (article_id, revision)

        def work(connection: sqlite3.Connection) -> CandidatePage | None:
            row = connection.execute(_WEIGHED, asked).fetchone()
            found = candidates_in(_unpacked(row["candidates"])) if row else None
            return page_of(found, query) if found is not None else None

        return await self._database.read(work)

    async def of(self, article_id: str) -> tuple[Reading, ...]:
        return await self._database.read(
            lambda connection: tuple(map(_outline, connection.execute(_OF, (article_id,))))
        )


def reading_row(reading: Reading) -> dict[str, Any]:
    """Return the columns of a reading by name."""
    return {
        "article_id": reading.article_id,
        "revision": reading.revision,
        "fetched_at": to_milliseconds(reading.fetched_at),
        "title": reading.title,
        "iocs": _pack(reading.iocs),
        "text": _pack(reading.text),
        "candidates": _pack(reading.candidates),
    }


def _outline(row: sqlite3.Row) -> Reading:
    return Reading(
        article_id=row["article_id"],
        revision=row["revision"],
        fetched_at=from_milliseconds(row["fetched_at"]),
        title=row["title"],
        iocs=tuple((type, value) for type, value in _unpack(row["iocs"])),
    )


def reading_record(row: sqlite3.Row) -> Reading:
    """Return the reading that `reading_row` spelled out."""
    candidates = candidates_in(_unpacked(row["candidates"]))
    return replace(
        _outline(row),
        text=_unpack(row["text"]),
        candidates=None if candidates is None else tuple(candidates),
    )


def _pack(value: object) -> bytes:
    return zlib.compress(orjson.dumps(value), _LEVEL)


def _unpack(packed: bytes) -> Any:
    return json.loads(_unpacked(packed))


def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode()


_PUT = """
    REPLACE INTO readings (article_id, revision, fetched_at, title, iocs, text, candidates)
    VALUES (:article_id, :revision, :fetched_at, :title, :iocs, :text, :candidates)
"""
_GET = "SELECT * FROM readings WHERE article_id = ? AND revision = ?"
_WEIGHED = "SELECT candidates FROM readings WHERE article_id = ? AND revision = ?"
_OF = """
    SELECT article_id, revision, fetched_at, title, iocs FROM readings
    WHERE article_id = ? ORDER BY revision DESC LIMIT 100
"""
