"""Facet keys say of every indicator what its sources say of it."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing

from intel.store.sqlite.connection import Database, connect
from intel.store.sqlite.facet_keys import NO_KEY, count_keys, fill, key_of, key_of_several, parts_of, write_keys
from intel.store.sqlite.migrations import migrate
from intel.store.sqlite.store import SqliteStore
from search_mappings import sqlite_migrations
from tests.cases import each
from tests.contract.store.builders import make_article, publish


@each("parts", [(1, 0, 0), (7, 2, 16 * 2_964 + 9), (123_456, 1, -16 * 900 + 3)])
def test_a_key_tells_source_week_and_type(parts: tuple[int, int, int]) -> None:
    assert parts_of(key_of(*parts)) == parts
    assert key_of(*parts) not in (NO_KEY, key_of_several(parts[2]))


def test_keys_are_counted_wherever_they_stand() -> None:
    keys = {seq: key_of(1 + seq % 3, 0, seq % 50) for seq in random.Random(1).sample(range(1, 3_000), 700)}
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE facet_keys (block INTEGER PRIMARY KEY, keys BLOB NOT NULL)")
        connection.execute("CREATE TABLE ioc_sources (ioc_seq, source_seq, shared, kind)")
        write_keys(connection, dict.fromkeys(keys, key_of(9, 0, 9)))
        write_keys(connection, keys)
        assert count_keys(connection, range(1, 5_000)) == Counter(keys.values())
        some = sorted(keys)[::7]
        assert count_keys(connection, some) == Counter(keys[seq] for seq in some)


def test_what_several_sources_name_is_counted_for_each_in_a_whole_block_too() -> None:
    of_one, of_many = key_of(1, 0, 5), [key_of(1, 1, 5), key_of(2, 2, 5)]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE facet_keys (block INTEGER PRIMARY KEY, keys BLOB NOT NULL)")
        connection.execute("CREATE TABLE ioc_sources (ioc_seq, source_seq, shared, kind)")
        write_keys(connection, dict.fromkeys(range(500, 1_000), of_one) | {700: key_of_several(5)})
        connection.executemany("INSERT INTO ioc_sources VALUES (700, ?, ?, 5)", [(1, 1), (2, 2)])
        for seqs in (range(500, 1_000), range(500, 999)):
            assert count_keys(connection, seqs) == Counter({of_one: len(seqs) - 1}) + Counter(of_many)


async def test_what_is_filled_in_is_what_is_written_with_articles(store: SqliteStore, database: Database) -> None:
    def keys(connection: sqlite3.Connection) -> list[tuple[int, bytes]]:
        return [*map(tuple, connection.execute("SELECT block, keys FROM facet_keys ORDER BY block"))]

    for number in range(4):
        named = [f"domain d{each}.example" for each in range(number * 150, number * 150 + 200)]
        await publish(store, make_article(f"a{number}", at=number * 99, source=f"Blog {number % 2}"), *named)
    await store.articles.save(make_article("a1", at=99, source="Blog 1"), [], [])
    written = await database.read(keys)
    await database.write(lambda connection: connection.execute("DELETE FROM facet_keys").rowcount)
    await database.write(fill)
    assert await database.read(keys) == written


async def test_keys_that_an_earlier_version_wrote_are_written_anew(store: SqliteStore, database: Database) -> None:
    def keys(connection: sqlite3.Connection) -> list[tuple[int, bytes]]:
        return [*map(tuple, connection.execute("SELECT block, keys FROM facet_keys ORDER BY block"))]

    for number in range(3):
        await publish(
            store, make_article(f"a{number}", source=f"Blog {number}"), "domain evil.example", f"ip 192.0.2.{number}"
        )
    written = await database.read(keys)
    with closing(connect(database.path, mode="rw")) as connection:
        of_several = [seq for (seq,) in connection.execute("SELECT ioc_seq FROM ioc_sources WHERE shared = 1")]
        write_keys(connection, dict.fromkeys(of_several, -1))
        assert of_several and keys(connection) != written
        connection.execute("PRAGMA user_version = 34")
        migrate(connection, sqlite_migrations())
        assert keys(connection) == written
