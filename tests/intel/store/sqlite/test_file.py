"""The file: made, migrated, shared by processes, refused where it cannot be used."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from intel.errors import ConfigurationError, StoreUnavailable
from intel.store.sqlite.connection import Database
from intel.store.sqlite.migrations import migrate
from intel.store.sqlite.store import SqliteStore
from search_mappings import sqlite_migrations
from tests.contract.store.builders import listed, make_article, make_submission, publish, the_ioc


async def test_the_data_folder_is_made_for_its_owner_alone(path: Path) -> None:
    store = SqliteStore(path)
    await store.setup()
    await store.close()
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = SqliteStore(tmp_path / "file" / "data" / "store.db")
    with pytest.raises(ConfigurationError, match=r"^IOC_DATA_DIR: .* cannot be written"):
        await store.setup()
    await store.close()


async def test_a_path_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "store.db").mkdir()
    store = SqliteStore(tmp_path / "store.db")
    with pytest.raises(StoreUnavailable, match="unable to open"):
        await store.setup()
    await store.close()


async def test_a_store_that_was_never_set_up_is_unavailable(path: Path) -> None:
    path.parent.mkdir()
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable):
        await store.ping()
    await store.close()
    assert not path.exists()


async def test_a_closed_store_is_unavailable(store: SqliteStore) -> None:
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.totals()


async def test_the_path_may_hold_any_sign(tmp_path: Path) -> None:
    path = tmp_path / "ü ?mode=ro#%41'" / "store.db"
    store = SqliteStore(path)
    await store.setup()
    await publish(store, make_article(), "domain evil.example")
    await store.close()
    assert path.exists()


async def test_a_file_of_a_newer_version_is_refused_and_kept(path: Path, store: SqliteStore) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    with pytest.raises(ConfigurationError, match="newer version"):
        await SqliteStore(path).setup()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (9999,)


async def test_a_file_of_another_kind_is_refused_and_kept(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("This is a letter to a friend, " * 100)
    with pytest.raises(ConfigurationError, match="is not a store"):
        await SqliteStore(path).setup()
    assert path.read_text().startswith("This is a letter")


def test_migrations_run_once_and_in_order() -> None:
    first = ((1, "CREATE TABLE one (a);\nINSERT INTO one VALUES ('x;y');"),)
    second = (*first, (2, "ALTER TABLE one ADD COLUMN b;\n-- a comment;\nUPDATE one SET b = a;"))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for migrations in (first, first, second, second):
            migrate(connection, migrations)
        assert connection.execute("SELECT a, b FROM one").fetchall() == [("x;y", "x;y")]
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_migration_that_fails_leaves_nothing() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, ((1, "CREATE TABLE one (a);\nCREATE NONSENSE;"),))
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
        assert connection.execute("PRAGMA user_version").fetchone() == (0,)


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [version for version, _ in sqlite_migrations()] == list(range(1, len(sqlite_migrations()) + 1))


async def test_a_write_that_fails_leaves_nothing(store: SqliteStore, database: Database) -> None:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO weeks VALUES ('w', 1, '', 0, '{}')")
        raise KeyError("midway")

    with pytest.raises(KeyError):
        await database.write(work)
    assert await store.weeks.get("w") is None
    assert await store.submissions.add(make_submission()) == make_submission()


async def test_a_full_disk_is_unavailable_and_reads_go_on(store: SqliteStore, database: Database) -> None:
    await publish(store, make_article(), "domain evil.example")
    (pages,) = await database.write(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
    with pytest.raises(StoreUnavailable, match="full"):
        await database.write(lambda connection: connection.execute(_LARGE_WEEK))
    assert await listed(store) == ["evil.example"]
    await database.write(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages + 10_000}").fetchone())
    await database.write(lambda connection: connection.execute(_LARGE_WEEK))


_LARGE_WEEK = "INSERT INTO weeks VALUES ('w', 1, hex(zeroblob(1000000)), 0, '{}')"


@pytest.mark.slow
async def test_a_file_locked_for_long_is_unavailable_and_reads_go_on(path: Path, store: SqliteStore) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.submissions.add(make_submission())
        assert await listed(store) == []
        other.rollback()
    assert await store.submissions.add(make_submission()) == make_submission()


async def test_a_fault_in_a_statement_is_not_hidden(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await database.read(lambda connection: connection.execute("SELECT * FROM absent"))


_PUBLISH = """
import asyncio, os, sys
from pathlib import Path
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import make_article, publish

async def main(path, name):
    store = SqliteStore(Path(path))
    await store.setup()
    for n in range(10):
        article = make_article(f"{name}{n}", source=name)
        await publish(store, article, "domain evil.example", f"domain {name}{n}.example")
    os._exit(0)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
async def test_processes_that_write_at_once_and_die_lose_nothing(path: Path) -> None:
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", _PUBLISH, str(path), f"p{n}") for n in range(3)
    ]
    assert [await process.wait() for process in started] == [0, 0, 0]
    store = SqliteStore(path)
    await store.setup()
    found = await the_ioc(store, "domain evil.example")
    assert (found.sightings, found.sources) == (30, 3)
    assert len(await listed(store)) == 31
    await store.close()
