"""The database file: who may open it, how work reaches it, and what its errors mean to the rest of the service.

SQLite blocks, so work runs in threads: all writes of this process one after the other in a single thread, reads in a
few. A read that is a matter of microseconds costs less than its way into a thread: it runs where it is asked for, and
moves into a thread where it turns out to take longer. That is judged by the time that this thread computes and by what
it reads from the disk: on a busy machine the clock runs on while a short read waits for a core. Other processes may use
the same file; every write begins by taking the write lock, because a transaction that read first and then wants to
write is refused at once when another one has written meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import structlog

from intel.errors import StoreDamaged, StoreUnavailable, WritesRefused
from intel.store.observing import Observe, unobserved

log = structlog.get_logger()

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

READERS = 4
# What a read may compute, or wait for the disk, on the event loop, and for how long reads stay away from it after one
# that the disk held longer.
_AT_ONCE_SECONDS = 0.003
_HELD_SECONDS = 0.05
_AWAY_SECONDS = 1.0
# Steps of SQLite's machine between two looks at the clock: some tens of microseconds.
_STEPS_BETWEEN_LOOKS = 2_000
BUSY_SECONDS = 5.0
# Pages that a connection keeps. There are several readers, and the system keeps the file's pages for all of them.
_CACHE_KIB = 16_000
_CACHE_OF_READER_KIB = 2_000
# Ten thousand indicators change so many pages of a large store, most of them in the index by id: what does not fit is
# written and read again within their transaction.
_CACHE_TO_WRITE_MUCH_KIB = 64_000
# Pages in the log, 64 MB of them, after which who writes much has them copied into the file: most transactions change
# the same pages of the index by id, which then are copied once and not each time.
_LOGGED_TO_WRITE_MUCH = 16_000
# Few enough that whoever reads them holds the event loop for some milliseconds only.
ROWS_AT_ONCE = 250
# Answers that are kept until something is written: keys that are in use, and some facts.
_MOST_KEPT = 1_024
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


def connect(
    path: Path, *, mode: str, busy_seconds: float = BUSY_SECONDS, cache_kib: int = _CACHE_KIB
) -> sqlite3.Connection:
    """Return a connection in autocommit mode; `mode` is `ro`, `rw` or `rwc` as in SQLite's URIs."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if _cannot_change(path) else ''}",
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        uri=True,
    )
    connection.row_factory = sqlite3.Row
    try:
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY", f"cache_size = -{cache_kib}"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()  # the file is no database, or out of reach
        raise
    return connection


def _cannot_change(path: Path) -> bool:
    """Tell whether a file lies whole on a read-only disk, where SQLite cannot make what it keeps beside the file."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY) and not Path(f"{path}-wal").exists()
    except OSError:
        return False


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


# Where the system does not count by thread, what the whole process uses stands for it.
_COUNTED = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)


class _Used(NamedTuple):
    """What this thread has used so far: seconds of computing, and blocks read from the disk."""

    seconds: float
    blocks: int

    @classmethod
    def now(cls) -> _Used:
        used = resource.getrusage(_COUNTED)
        return cls(used.ru_utime + used.ru_stime, used.ru_inblock)


# What makes a read on the event loop move into a thread.
_MOVED = frozenset({sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY})


class _AtOnce:
    """A connection for reads on the event loop: it waits for no lock, and breaks a read off that takes too long.

    All reads of one turn of the loop share a transaction, for to begin and to end one costs more than such a read. It
    ends before anything of the next turn goes on, so that whoever waited for a write sees it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._in_use = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._turn_of: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._ends = 0.0
        self._at_first_look: _Used | None = None
        self._blocks = 0
        self._away_until = 0.0
        self._kept: dict[Hashable, Any] = {}
        self._written = 0

    def read(self, work: Work[T]) -> tuple[T] | None:
        """Return what `work` returns, in a tuple; None where it has to run in a thread."""
        begun = time.monotonic()
        if begun < self._away_until or not self._in_use.acquire(blocking=False):
            return None
        try:
            self._ends, self._at_first_look = begun + _AT_ONCE_SECONDS, None
            connection = self._begun(asyncio.get_running_loop())
            return None if connection is None else (work(connection),)
        except BaseException as error:
            self._end("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF in _MOVED:
                return None
            raise
        finally:
            self._in_use.release()
            ended = time.monotonic()
            if ended - begun > _HELD_SECONDS and self._has_read_blocks():
                self._away_until = ended + _AWAY_SECONDS

    def kept(self, name: Hashable) -> Any:
        """Return what is kept by this name, as it is in this turn; None where nothing is."""
        return self._kept.get(name) if self._turn_of is asyncio.get_running_loop() else None

    def keep(self, name: Hashable, work: Work[T]) -> Work[tuple[T]]:
        """Return `work`, so that what it returns, in a tuple, is kept by this name until something is written."""

        def read_unless_kept(connection: sqlite3.Connection) -> tuple[T]:
            found: tuple[T] | None = self._kept.get(name)
            if found is None:
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[name] = found = (work(connection),)
            return found

        return read_unless_kept

    def _begun(self, loop: asyncio.AbstractEventLoop) -> sqlite3.Connection | None:
        """Return the connection within a transaction of this turn; None while it is at another loop's."""
        if self._closed:
            return None
        if self._turn_of is not None and self._turn_of is not loop and not self._turn_of.is_closed():
            return None
        connection = self._opened()
        if self._turn_of is not loop:
            self._end()
            # Before the beginning: what another thread then tells this loop comes after the end.
            loop.call_soon(self._end_turn)
            self._turn_of = loop
            connection.execute("BEGIN")
            self._forget_what_changed(connection)
        return connection

    def _forget_what_changed(self, connection: sqlite3.Connection) -> None:
        """Drop what is kept where another connection, of whichever process, has written since the last turn."""
        (written,) = connection.execute("PRAGMA data_version").fetchone()
        if written != self._written:
            self._kept.clear()
            self._written = written

    def _end_turn(self) -> None:
        with self._in_use:
            self._end()

    def _end(self, statement: str = "COMMIT") -> None:
        self._turn_of = None
        if self._connection is not None and not self._closed and self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute(statement)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self._path, mode="rw", busy_seconds=0, cache_kib=_CACHE_OF_READER_KIB)
            self._connection.set_progress_handler(self._is_late, _STEPS_BETWEEN_LOOKS)
            self._blocks = _Used.now().blocks
        return self._connection

    def _is_late(self) -> bool:
        """Tell whether the read goes on for too long; most end before the first look."""
        used = _Used.now()
        if self._at_first_look is None:
            self._at_first_look = used
            return False
        if used.seconds - self._at_first_look.seconds > _AT_ONCE_SECONDS:
            return True
        return used.blocks > self._at_first_look.blocks and time.monotonic() > self._ends

    def _has_read_blocks(self) -> bool:
        """Tell whether anything came from the disk since the last time that this was asked."""
        before, self._blocks = self._blocks, _Used.now().blocks
        return self._blocks > before

    def close(self) -> None:
        with self._in_use:
            self._closed = True
            if self._connection is not None:
                self._connection.close()


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
                self._connection = connect(self._path, mode="rw", cache_kib=_CACHE_OF_READER_KIB)
                # What a large result is sorted by does not fit into memory.
                self._connection.execute("PRAGMA temp_store = FILE")
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

    def __init__(self, path: Path, observe: Observe = unobserved, *, writes_much: bool = False) -> None:
        """`observe` is told of reads and writes in threads how long they took, with the wait for a thread."""
        self.path = path
        self._writer_cache_kib = _CACHE_TO_WRITE_MUCH_KIB if writes_much else _CACHE_KIB
        self._observe = observe
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._at_once = _AtOnce(path)
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._opened: list[sqlite3.Connection] = []
        self._closed = False
        self.damage: StoreDamaged | None = None

    async def read(self, work: Work[T]) -> T:
        """Return what `work` returns, from one consistent state of the file."""
        return await self._run(self._readers, lambda: self._transaction("BEGIN", work, _CACHE_OF_READER_KIB))

    async def read_at_once(self, work: Work[T]) -> T:
        """Do as `read`, for work of microseconds mostly: on the event loop, in a thread where it takes longer.

        `work` may be begun twice.
        """
        done = self._done_at_once(work)
        return await self.read(work) if done is None else done[0]

    async def read_unless_kept(self, name: Hashable, work: Work[T]) -> T:
        """Do as `read_at_once`, for what every request reads and seldom changes: what `work` returned for this name is
        returned again as long as nothing is written to the file.
        """
        found: tuple[T] | None = self._at_once.kept(name)
        if found is None:
            done = self._done_at_once(self._at_once.keep(name, work))
            found = done[0] if done is not None else None
        return await self.read(work) if found is None else found[0]

    def _done_at_once(self, work: Work[T]) -> tuple[T] | None:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        try:
            return self._at_once.read(work)
        except sqlite3.DatabaseError:
            with self._noted(), engine_errors():
                raise

    async def write(self, work: Work[T]) -> T:
        """Run `work` whole or not at all; what it wrote is on the disk when this returns."""
        return await self._run(self._writer, lambda: self._transaction("BEGIN IMMEDIATE", work, self._writer_cache_kib))

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
        self._at_once.close()
        while self._opened:
            self._opened.pop().close()

    async def _run(self, executor: Executor, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        begun = time.perf_counter()
        try:
            with self._noted(), engine_errors():
                return await asyncio.get_running_loop().run_in_executor(executor, work)
        finally:
            self._observe("write" if executor is self._writer else "read", time.perf_counter() - begun)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except StoreDamaged as damage:
            self._note(damage)
            raise

    def _note(self, damage: StoreDamaged) -> None:
        """Say once in the log that the file is damaged, and remember it."""
        if self.damage is None:
            self.damage = damage
            log.error("the store is damaged: run `ioc doctor`", file=str(self.path), error=str(damage))

    def _transaction(self, begin: str, work: Work[T], cache_kib: int) -> T:
        connection = self._connection(cache_kib)
        with connection:
            connection.execute(begin)
            result = work(connection)
            if isinstance(result, sqlite3.Cursor):
                # Whoever drops it elsewhere would reset its statement beneath what this thread does next.
                result.close()
            return result

    def _connection(self, cache_kib: int) -> sqlite3.Connection:
        """Return this thread's own connection."""
        connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = connect(self.path, mode="rw", cache_kib=cache_kib)
            if cache_kib == _CACHE_TO_WRITE_MUCH_KIB:
                connection.execute(f"PRAGMA wal_autocheckpoint = {_LOGGED_TO_WRITE_MUCH}")
            with self._lock:
                self._opened.append(connection)
        return connection
