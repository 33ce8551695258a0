"""The database file: who may open it, how work reaches it, and what its errors mean to the rest of the service.

SQLite blocks, so work runs in threads: all writes of this process one after the other in a single thread, reads in a
few. Other processes may use the same file; every write begins by taking the write lock, because a transaction that read
first and then wants to write is refused at once when another one has written meanwhile.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import structlog

from intel.errors import StoreDamaged, StoreUnavailable, WritesRefused

log = structlog.get_logger()

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

READERS = 4
BUSY_SECONDS = 5.0
# Few enough that whoever reads them holds the event loop for some milliseconds only.
ROWS_AT_ONCE = 250
# Conditions of the machine or of other processes, which pass; any other code is a fault in a statement.
_PASSING = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOMEM,
    }
)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NO_WRITES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY})
_NO_WRITES_IN_FULL = frozenset({sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC})


def connect(path: Path, *, mode: str) -> sqlite3.Connection:
    """Return a connection in autocommit mode; `mode` is `ro`, `rw` or `rwc` as in SQLite's URIs."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        uri=True,
    )
    connection.row_factory = sqlite3.Row
    try:
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY", "cache_size = -16000"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()  # the file is no database, or out of reach
        raise
    return connection


_ADVICE = {
    sqlite3.SQLITE_BUSY: "another program holds the database; try again, or end that program",
    sqlite3.SQLITE_LOCKED: "another program holds the database; try again, or end that program",
    sqlite3.SQLITE_FULL: "the disk is full; make room on it",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written; look at its room and its health",
    sqlite3.SQLITE_CANTOPEN: "look at the owner and permissions of IOC_DATA_DIR",
    sqlite3.SQLITE_READONLY: "look at the owner and permissions of IOC_DATA_DIR",
    sqlite3.SQLITE_PERM: "look at the owner and permissions of IOC_DATA_DIR",
}


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn what the engine says of locks, disks and files into StoreUnavailable and its kinds."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _meaning(error) from error


def _meaning(error: sqlite3.DatabaseError) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) or 0
    advice = f": {_ADVICE[code & 0xFF]}" if code & 0xFF in _ADVICE else ""
    if code & 0xFF in _DAMAGED:
        return StoreDamaged(f"the store is damaged: {error}")
    if code & 0xFF in _NO_WRITES or code in _NO_WRITES_IN_FULL:
        return WritesRefused(f"the store takes no writes ({error}){advice}")
    return StoreUnavailable(f"the store cannot be used ({error}){advice}") if code & 0xFF in _PASSING else error


class _Query:
    """A query on a connection of its own, which no thread may close while another one reads from it."""

    def __init__(self, path: Path, sql: str, parameters: tuple[Any, ...]) -> None:
        self._path = path
        self._asked = sql, parameters
        self._in_use = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._cursor: sqlite3.Cursor | None = None
        self._closed = False

    def fetch(self) -> list[sqlite3.Row]:
        """Return the next rows; none at the end, and after `close`."""
        with self._in_use:
            if self._connection is None and not self._closed:
                self._connection = connect(self._path, mode="rw")
            if self._connection is None or self._closed:
                return []
            if self._cursor is None:
                self._cursor = self._connection.execute(*self._asked)
            return self._cursor.fetchmany(ROWS_AT_ONCE)

    def close(self) -> None:
        """End a `fetch` that another thread is still at, for whoever asked for it may have been cancelled."""
        self._closed = True
        if self._connection is not None:
            self._connection.interrupt()
        with self._in_use:
            if self._connection is not None:
                self._connection.close()


class Database:
    """Runs work on the file; usable from any task and event loop until it is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._opened: list[sqlite3.Connection] = []
        self._closed = False
        self.damage: StoreDamaged | None = None

    async def read(self, work: Work[T]) -> T:
        """Return what `work` returns, from one consistent state of the file."""
        return await self._run(self._readers, lambda: self._transaction("BEGIN", work))

    async def write(self, work: Work[T]) -> T:
        """Run `work` whole or not at all; what it wrote is on the disk when this returns."""
        return await self._run(self._writer, lambda: self._transaction("BEGIN IMMEDIATE", work))

    async def stream(self, sql: str, parameters: tuple[Any, ...]) -> AsyncGenerator[sqlite3.Row, None]:
        """Yield the rows of a query, few at a time, all from one state of the file."""
        query = _Query(self.path, sql, parameters)
        try:
            while rows := await self._run(self._readers, query.fetch):
                for row in rows:
                    yield row
        finally:
            query.close()

    async def exclusively(self, work: Callable[[], T]) -> T:
        """Run `work` in the thread of the writes."""
        return await self._run(self._writer, work)

    async def close(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        while self._opened:
            self._opened.pop().close()

    async def _run(self, executor: Executor, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        try:
            with engine_errors():
                return await asyncio.get_running_loop().run_in_executor(executor, work)
        except StoreDamaged as damage:
            self._note(damage)
            raise

    def _note(self, damage: StoreDamaged) -> None:
        """Say once in the log that the file is damaged, and remember it."""
        if self.damage is None:
            self.damage = damage
            log.error("the store is damaged: run `ioc doctor`", file=str(self.path), error=str(damage))

    def _transaction(self, begin: str, work: Work[T]) -> T:
        connection = self._connection()
        with connection:
            connection.execute(begin)
            return work(connection)

    def _connection(self) -> sqlite3.Connection:
        """Return this thread's own connection."""
        connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = connect(self.path, mode="rw")
            with self._lock:
                self._opened.append(connection)
        return connection
