"""What packed keys tell of types and times is what the rows say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import product

import pytest

from intel.query import IocFilter
from intel.store.sqlite import filtering
from intel.store.sqlite.columns import Columns
from intel.store.sqlite.connection import Database
from intel.store.sqlite.spans import within
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import hour, make_article, publish

_ROWS = "SELECT seq FROM iocs AS i"
_HOURS = 7 * 24
# Both sides of where weeks meet, to the millisecond, and the middle of one.
_TIMES = [week * _HOURS + by for week in range(4) for by in (-1 / 3_600_000, 0, 1 / 3_600_000, _HOURS / 2)]


def _filters() -> Iterator[IocFilter]:
    moments = [None, *map(hour, _TIMES[::2])]
    for types, since, until in product([(), ("ip",), ("domain", "cve")], moments, moments):
        yield IocFilter(types, since=since, until=until)
    for statuses in (("active",), ("ageing",), ("expired",), ("active", "expired")):
        for after in (1, 20, 100, 200):
            yield IocFilter(statuses=statuses, now=hour(24 * after))


@pytest.fixture
async def filled(store: SqliteStore) -> SqliteStore:
    """Hold more than a block of keys, some of them of two sources."""
    for number, at in enumerate(_TIMES):
        named = [f"domain d{each}.example" for each in range(number * 50, number * 50 + 60)]
        named += [f"ip 198.51.100.{number}", f"cve CVE-2020-{1000 + number}"]
        article = make_article(f"a{number}", at=at, source=f"Blog {number % 3}")
        await publish(store, article, *named)
    return store


async def test_spans_hold_what_the_rows_say(filled: SqliteStore, database: Database) -> None:
    def compare(connection: sqlite3.Connection) -> int:
        every = [seq for (seq,) in connection.execute("SELECT seq FROM iocs ORDER BY seq")]
        some = every[3::5]
        columns, lengths = Columns(connection), set()
        for only in _filters():
            where = filtering.where(filtering.of_spans(only, filtering.COLUMNS["iocs"]))
            rows = connection.execute(_ROWS + where.text, where.parameters)
            expected = sorted(seq for (seq,) in rows)
            assert [*within(connection, every, only)] == expected, only
            assert [*within(connection, some, only)] == sorted({*some} & {*expected}), only
            assert [*columns.within(only)] == expected, only
            lengths.add(len(expected))
        assert len(every) > 500 and 0 in lengths and len(every) in lengths
        return len(lengths)

    assert await database.read(compare) > 20
