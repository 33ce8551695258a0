"""Queries that are read in pieces, and those who no longer want them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio

from intel.store.sqlite.connection import READERS, ROWS_AT_ONCE, Database, connect

NUMBERS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?) SELECT "
MANY = 10 * ROWS_AT_ONCE
ENDLESS = 10**12


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    path = tmp_path / "store.db"
    connect(path, mode="rwc").close()
    database = Database(path)
    yield database
    await database.close()


async def test_all_rows_come_in_order(database: Database) -> None:
    numbers = [row[0] async for row in database.stream(NUMBERS + "n FROM number", (MANY,))]

    assert numbers == list(range(1, MANY + 1))


async def test_a_query_that_nobody_waits_for_any_more_ends(database: Database) -> None:
    for _ in range(5 * READERS):
        rows = database.stream(NUMBERS + "count(*) FROM number", (ENDLESS,))
        asked = asyncio.ensure_future(anext(rows))
        await asyncio.sleep(0.02)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    # There are fewer threads for reading than queries were given up: none is still at one.
    assert await database.read(lambda connection: connection.execute("SELECT 1").fetchone()[0]) == 1


async def test_who_has_read_enough_ends_the_query(database: Database) -> None:
    async with aclosing(database.stream(NUMBERS + "n FROM number", (ENDLESS,))) as rows:
        assert (await anext(rows))[0] == 1

    assert await database.read(lambda connection: connection.execute("SELECT 2").fetchone()[0]) == 2


async def test_a_query_is_cancelled_before_its_connection_is_open(database: Database) -> None:
    for _ in range(50):
        asked = asyncio.ensure_future(anext(database.stream(NUMBERS + "n FROM number", (MANY,))))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    assert await database.read(lambda connection: connection.execute("SELECT 3").fetchone()[0]) == 3
