"""Makes the file and brings its tables to this version."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import structlog

from intel.errors import ConfigurationError, StoreDamaged
from intel.store.sqlite import facet_keys
from intel.store.sqlite.cards import article_card
from intel.store.sqlite.connection import BUSY_SECONDS, connect
from intel.store.sqlite.packing import pack_utf8
from intel.store.sqlite.reindexing import fill
from intel.store.sqlite.rows import id_bytes
from intel.store.sqlite.word_index import packed_words
from intel.store.subjects import domain_of
from intel.words import encoded_words
from search_mappings import sqlite_migrations

log = structlog.get_logger()

_COMPACT = 8  # the version from which on the words of indicators follow from their records
# The versions that bring what follows from other tables: the keys of facets, and their present form.
_FACET_KEYS = frozenset({31, 35})
_LARGE = 50_000
_OLDEST_ENGINE = (3, 37, 0)  # STRICT tables
_NEWER = "the data folder was written by a newer version of this service: use that, or another IOC_DATA_DIR"


def prepare(path: Path) -> None:
    """Make folder, file and tables, as far as they are missing; any number of processes may do so at once.

    Raises ConfigurationError where the folder cannot be written or the file is not for this program.
    """
    if sqlite3.sqlite_version_info < _OLDEST_ENGINE:
        raise ConfigurationError(f"this Python has SQLite {sqlite3.sqlite_version}; at least 3.37 is needed")
    _make_file(path)
    try:
        with closing(connect(path, mode="rwc")) as connection:
            _use_write_ahead_log(connection)
            # What a large store is sorted by while its tables change does not fit into memory.
            connection.execute("PRAGMA temp_store = FILE")
            migrate(connection, sqlite_migrations())
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise ConfigurationError(
                f"{path} is not a store of this service: restore it from a backup, move it away to begin anew, or set"
                " IOC_DATA_DIR to the right folder"
            ) from None
        raise


def migrate(connection: sqlite3.Connection, migrations: tuple[tuple[int, str], ...]) -> None:
    """Run every migration that the file lacks, each whole or not at all."""
    newest = max(version for version, _ in migrations)
    # A file that needs nothing is opened on a full or read-only disk too.
    if connection.execute("PRAGMA user_version").fetchone()[0] == newest:
        return
    connection.create_function("id_bytes", 1, id_bytes, deterministic=True)
    connection.create_function("domain_of", 1, domain_of, deterministic=True)
    connection.create_function("casefold", 1, str.casefold, deterministic=True)
    connection.create_function("packed", 1, pack_utf8, deterministic=True)
    connection.create_function("article_card", 6, article_card, deterministic=True)
    connection.create_function("encoded_words", 1, encoded_words, deterministic=True)
    connection.create_function("packed_words", 1, packed_words, deterministic=True)
    for version, sql in migrations:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            (current,) = connection.execute("PRAGMA user_version").fetchone()
            if current > newest:
                raise ConfigurationError(_NEWER)
            if current < version:
                for statement in _statements(sql):
                    connection.execute(statement)
                if version == _COMPACT:
                    with _later_columns(connection):
                        fill(connection, _told(connection))
                if version in _FACET_KEYS:
                    facet_keys.fill(connection)
                connection.execute(f"PRAGMA user_version = {version}")
    _give_back(connection)


@contextlib.contextmanager
def _later_columns(connection: sqlite3.Connection) -> Iterator[None]:
    """Let articles have the column that a later migration adds, for today's way of reading sightings asks for it."""
    connection.execute("CREATE TEMP VIEW articles AS SELECT *, 0 AS tlp FROM main.articles")
    yield
    connection.execute("DROP VIEW temp.articles")


def _told(connection: sqlite3.Connection) -> Callable[[int], None]:
    """Return what tells in the log how far a large store has come."""
    (total,) = connection.execute("SELECT count(*) FROM iocs").fetchone()

    def tell(done: int) -> None:
        if total > _LARGE and (done % _LARGE == 0 or done == total):
            log.info("the store is brought to the form of this version", indicators=done, of=total)

    return tell


def _give_back(connection: sqlite3.Connection) -> None:
    """Shrink the file where most of it is free; a file that somebody else reads, or a full disk, keeps its size."""
    (free,), (pages,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_count"))
    if free > pages / 4:
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("VACUUM")


def check_version(connection: sqlite3.Connection) -> None:
    """Raise StoreDamaged where a newer version of this program has changed the tables meanwhile."""
    newest = max(version for version, _ in sqlite_migrations())
    if connection.execute("PRAGMA user_version").fetchone()[0] > newest:
        raise StoreDamaged(_NEWER)


def _make_file(path: Path) -> None:
    """Make folder and file for their owner alone; SQLite gives the files beside it the same permissions."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise ConfigurationError(
            f"IOC_DATA_DIR: {path.parent} cannot be written ({error.strerror}); name a folder that this user may write"
        ) from None


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    # The engine's own waiting does not cover this switch while another process makes it.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _statements(sql: str) -> Iterator[str]:
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
