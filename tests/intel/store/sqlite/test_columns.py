"""What columns tell of very many is what the key of each tells."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from intel.indicator_types import MOST_TYPES
from intel.records import IOC_TYPES
from intel.store.sqlite.columns import Columns
from intel.store.sqlite.facet_keys import FIRST, FURTHER, ONLY, key_of, key_of_several, write_keys
from intel.store.sqlite.facets import _of_seqs
from intel.store.sqlite.marked import Marked

_LAST = 3_000
# Such as one byte does not tell apart, or whose lowest byte is 0.
_SOURCES = (1, 255, 256, 257, 512, 700)
_WEEKS = (0, 1, 255, 256, 2_816, 2_964, 3_000)
_TABLES = """
    CREATE TABLE facet_keys (block INTEGER PRIMARY KEY, keys BLOB NOT NULL);
    CREATE TABLE ioc_sources (ioc_seq, source_seq, shared, kind);
    CREATE INDEX ioc_sources_shared ON ioc_sources (source_seq, shared) WHERE shared;
    CREATE TABLE sources (seq INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE ioc_counts (type, week, iocs);
"""


@pytest.fixture
def named() -> dict[int, set[int]]:
    """The sources of indicators by `seq`; of some blocks there are none."""
    chance = random.Random(1)
    seqs = [seq for seq in range(1, _LAST) if seq // 500 not in (1, 4) and chance.random() < 0.9]
    return {seq: {*chance.sample(_SOURCES, chance.choice((1, 1, 1, 2, 3)))} for seq in seqs}


@pytest.fixture
def connection(named: dict[int, set[int]]) -> Iterator[sqlite3.Connection]:
    chance, keys = random.Random(2), dict[int, int]()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_TABLES)
        connection.executemany("INSERT INTO sources VALUES (?, ?)", ((seq, f"Blog {seq}") for seq in _SOURCES))
        connection.executemany("INSERT INTO ioc_counts VALUES ('ip', ?, 1)", ((week,) for week in _WEEKS))
        for seq, sources in named.items():
            kind = chance.choice(_WEEKS) * MOST_TYPES + chance.randrange(len(IOC_TYPES))
            first, *others = sorted(sources)
            keys[seq] = key_of_several(kind) if others else key_of(first, ONLY, kind)
            rows = [(seq, first, FIRST if others else ONLY, kind), *((seq, other, FURTHER, kind) for other in others)]
            connection.executemany("INSERT INTO ioc_sources VALUES (?, ?, ?, ?)", rows)
        write_keys(connection, keys)
        yield connection


def test_columns_count_what_keys_count(connection: sqlite3.Connection, named: dict[int, set[int]]) -> None:
    every, columns = sorted(named), Columns(connection)
    assert columns.are_readable
    for some in (every, every[::3], every[-700:], every[:1], random.Random(3).sample(every, 200), []):
        marked = Marked.of(some, max(some, default=0) + 1)
        assert columns.count(marked) == _of_seqs(connection, sorted(some)), len(some)


def test_columns_tell_what_sources_name(connection: sqlite3.Connection, named: dict[int, set[int]]) -> None:
    columns = Columns(connection)
    for sources in ((1,), (256,), (257, 512), _SOURCES):
        expected = sorted(seq for seq, its in named.items() if its & {*sources})
        assert [*columns.of_sources([f"Blog {seq}" for seq in sources])] == expected, sources
    assert [*columns.of_sources(["Nobody"])] == []


@pytest.mark.parametrize(("week", "source"), [(-1, 1), (1 << 16, 1), (1, 1 << 16)])
def test_what_has_no_room_in_columns_is_told_before(connection: sqlite3.Connection, week: int, source: int) -> None:
    connection.execute("INSERT INTO ioc_counts VALUES ('ip', ?, 1)", (week,))
    connection.execute("REPLACE INTO sources VALUES (?, 'Other')", (source,))
    assert not Columns(connection).are_readable


def test_marked_numbers_are_those_that_were_given() -> None:
    numbers = random.Random(4).sample(range(1, 900), 300)
    marked = Marked.of(numbers, 1_000)
    assert [*marked] == sorted(numbers) and len(marked) == 300
    assert (marked[0], marked[-1], [*marked[5:9]]) == (min(numbers), max(numbers), sorted(numbers)[5:9])
    assert [number for number in range(-5, 2_000) if number in marked] == sorted(numbers)
    assert [*marked.without([*numbers[:200], 5_000])] == sorted(numbers[200:])
    assert [*Marked.of_bits(marked.bits & Marked.of(numbers[:9], 901).bits)] == sorted(numbers[:9])
    assert [*Marked.of_bits(0)] == []
