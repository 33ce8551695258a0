"""Queries that are read in pieces, and those who no longer want them."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, closing
from pathlib import Path

import pytest
import pytest_asyncio

from intel.errors import StoreUnavailable
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


def thread_of(connection: sqlite3.Connection) -> str:
    connection.execute("SELECT 1").fetchone()
    return threading.current_thread().name


async def test_a_short_read_runs_where_it_is_asked_for(database: Database) -> None:
    here = threading.current_thread().name
    assert await database.read_at_once(thread_of) == here
    assert await database.read(thread_of) != here


async def test_a_read_that_takes_long_moves_into_a_thread_and_still_answers(database: Database) -> None:
    counted: list[str] = []

    def work(connection: sqlite3.Connection) -> int:
        counted.append(threading.current_thread().name)
        return int(connection.execute(NUMBERS + "count(*) FROM number", (300_000,)).fetchone()[0])

    assert await database.read_at_once(work) == 300_000
    assert counted[0] == threading.current_thread().name != counted[1]


async def test_a_read_that_only_waits_for_a_core_stays_where_it_is(database: Database) -> None:
    here = threading.current_thread().name

    def work(connection: sqlite3.Connection) -> str:
        # As long as no other thread runs, to sleep is what it is to be kept from running.
        time.sleep(0.06)
        assert connection.execute(NUMBERS + "count(*) FROM number", (3_000,)).fetchone()[0] == 3_000
        return threading.current_thread().name

    assert await database.read_at_once(work) == here
    assert await database.read_at_once(thread_of) == here


async def test_a_locked_file_does_not_keep_the_event_loop_waiting(database: Database) -> None:
    holder = connect(database.path, mode="rw")
    holder.execute("BEGIN EXCLUSIVE")
    reading = asyncio.ensure_future(
        database.read_at_once(lambda c: c.execute("SELECT * FROM sqlite_schema").fetchall())
    )
    await asyncio.sleep(0)
    assert not reading.done()
    holder.close()
    assert await reading == []


async def test_a_fault_in_a_short_read_is_told_as_in_any_other(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await database.read_at_once(lambda connection: connection.execute("SELECT * FROM absent"))
    await database.close()
    with pytest.raises(StoreUnavailable):
        await database.read_at_once(thread_of)


async def test_short_reads_of_one_turn_see_one_state_and_the_next_turn_what_was_written(database: Database) -> None:
    def count(connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT count(*) FROM noted").fetchone()[0])

    other = connect(database.path, mode="rw")
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("CREATE TABLE noted (n INTEGER)")
    assert await database.read_at_once(count) == 0
    other.execute("INSERT INTO noted VALUES (1)")
    assert await database.read_at_once(count) == 0
    await asyncio.sleep(0)
    assert await database.read_at_once(count) == 1
    for n in range(2, 50):
        await database.write(lambda connection: connection.execute("INSERT INTO noted VALUES (2)"))
        assert await database.read_at_once(count) == n
    other.close()


async def test_what_a_failed_short_read_left_is_gone_for_the_next_one(database: Database) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TEMP TABLE left_over (n INTEGER)")
        connection.execute("SELECT * FROM absent")

    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError, match="absent"):
            await database.read_at_once(fail)


async def test_who_writes_much_copies_the_log_into_the_file_seldom_and_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(connect(path, mode="rwc")) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE texts (text TEXT)")
    pages, sizes = 1_500, list[int]()
    for writes_much in (False, True):
        database = Database(path, writes_much=writes_much)
        for text in ("a", "b"):
            whole = [(text * 4_000,)] * pages
            await database.write(lambda c, whole=whole: c.executemany("INSERT INTO texts VALUES (?)", whole).rowcount)  # type: ignore[misc]  # mypy infers no default
        sizes.append(path.with_name("store.db-wal").stat().st_size)
        await database.close()
        assert not path.with_name("store.db-wal").exists()
    often, seldom = sizes
    assert often < 2 * pages * 4_096 < seldom
    with closing(connect(path, mode="ro")) as connection:
        assert connection.execute("SELECT count(*) FROM texts").fetchone()[0] == 4 * pages
