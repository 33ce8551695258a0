"""How the indicators of a list or search divide: two statements over all that match, read from indexes alone."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from intel.query import IocQuery
from intel.records import Facets
from intel.store.sqlite.finding import is_plain, matching_seqs, plain_filters
from intel.store.sqlite.matching import Sql
from intel.times import from_milliseconds

_MOST_SOURCES, _MOST_WEEKS = 20, 26
# Beyond this share of all indicators, reading an index to its end is quicker than looking up each one.
_WIDE = 1 / 4
_DAY = 86_400_000
_WEEK = 7 * _DAY
_MONDAY = -3 * _DAY  # 1969-12-29


class Scope(NamedTuple):
    """What the statements read: the condition, and whether they go through a whole index in its order."""

    where: Sql
    wide: bool = False


def divide(connection: sqlite3.Connection, query: IocQuery) -> Facets:
    """Return the facets of all that a query matches."""
    scope = Scope(plain_filters(query)) if is_plain(query) else _matching(connection, query)
    times, names = types_and_times(scope), source_names(scope)
    types, weeks = _types_and_weeks(connection.execute(times.text, times.parameters))
    return Facets(types, dict(map(tuple, connection.execute(names.text, names.parameters))), weeks)


def _matching(connection: sqlite3.Connection, query: IocQuery) -> Scope:
    """Note what matches in a temporary table, so that a search is made once."""
    found = matching_seqs(query)
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS matching (seq INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM matching")
    count = connection.execute(f"INSERT INTO matching (seq) {found.text}", found.parameters).rowcount
    (stored,) = connection.execute("SELECT coalesce(sum(iocs), 0) FROM ioc_totals").fetchone()
    wide = count > _WIDE * stored
    return Scope(Sql(f" WHERE {'+' if wide else ''}seq IN (SELECT seq FROM matching)"), wide)


def types_and_times(scope: Scope) -> Sql:
    """(type, newest_first, count); most indicators share their time with those of the same article."""
    index = " INDEXED BY iocs_of_type" if scope.wide else ""
    return Sql(
        f"SELECT type, newest_first, count(*) FROM iocs{index}{scope.where.text} GROUP BY type, newest_first",
        scope.where.parameters,
    )


def source_names(scope: Scope) -> Sql:
    """(source_name, count) of those with the most, in order."""
    index = " INDEXED BY ioc_sources_newest" if scope.wide else ""
    return Sql(
        f"""SELECT source_name, count(*) AS iocs FROM ioc_sources{index}{scope.where.text}
            GROUP BY source_name ORDER BY iocs DESC, source_name LIMIT ?""",
        (*scope.where.parameters, _MOST_SOURCES),
    )


def _types_and_weeks(rows: Iterable[sqlite3.Row]) -> tuple[dict[str, int], dict[str, int]]:
    types: Counter[str] = Counter()
    weeks: Counter[int] = Counter()
    for type, newest_first, count in rows:
        types[type] += count
        weeks[(-newest_first - _MONDAY) // _WEEK] += count
    newest = sorted(weeks, reverse=True)[:_MOST_WEEKS]
    most_first = sorted(types.items(), key=lambda counted: (-counted[1], counted[0]))
    return dict(most_first), {_week_id(week): weeks[week] for week in newest}


def _week_id(week: int) -> str:
    year, number, _ = from_milliseconds(_MONDAY + week * _WEEK).isocalendar()
    return f"{year:04}-W{number:02}"
