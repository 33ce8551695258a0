"""How the indicators of a list or search divide: read from kept numbers where they hold, else counted over all."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from intel.indicator_types import MOST_TYPES
from intel.query import IocQuery
from intel.records import IOC_TYPES, Facets
from intel.store.sqlite.filtering import OF_SOURCE
from intel.store.sqlite.finding import counted, is_counted, is_span, matching_seqs, plain_filters
from intel.store.sqlite.matching import Sql
from intel.store.sqlite.ranking import matches_everything
from intel.times import from_milliseconds

_MOST_SOURCES, _MOST_WEEKS = 20, 26
WEEK_MILLISECONDS = 7 * 86_400_000
_MONDAY = -3 * 86_400_000  # 1969-12-29

# Of `ioc_sources.shared`: an only source, one of several, and every further one.
ONLY, FIRST, FURTHER = 0, 1, 2

Rows = Iterable[sqlite3.Row] | Iterable[tuple[Any, ...]]


def week_of(moment: int) -> int:
    """Return the week of a time in milliseconds, in weeks since the first Monday."""
    return (moment - _MONDAY) // WEEK_MILLISECONDS


def kind_of(type: str, last_seen: int) -> int:
    """Return type and week of an indicator in one number, which takes less time to count by."""
    return week_of(last_seen) * MOST_TYPES + IOC_TYPES.index(type)


def divide(connection: sqlite3.Connection, query: IocQuery) -> Facets:
    """Return the facets of all that a query matches."""
    if query.text is not None and matches_everything(connection, query.text):
        query = replace(query, text=None)
    if is_counted(query):
        table, where = counted(query)
        weeks = connection.execute(f"SELECT type, week, iocs FROM {table}{where.text}", where.parameters)
        names = source_names(query)
        return _facets(weeks, connection.execute(names.text, names.parameters))
    if is_span(query):
        of_weeks, of_sources = weeks_of_span(query), sources_of_span(query)
        weeks = connection.execute(of_weeks.text, of_weeks.parameters)
        return _facets(weeks, connection.execute(of_sources.text, of_sources.parameters))
    found = matching_seqs(query)
    return _of_kinds(connection, connection.execute(_KINDS_OF_MATCHING.format(found.text), found.parameters))


def source_names(query: IocQuery) -> Sql:
    """Return (source_name, count) of those with the most, in order, for a query that `is_counted`."""
    types = tuple(dict.fromkeys(query.filter.types))
    asked = f"type IN ({', '.join('?' * len(types))})" if types else "TRUE"
    if not query.filter.sources:
        return Sql(_SOURCES.format(asked), (*types, _MOST_SOURCES))
    (source,) = query.filter.sources
    return Sql(_SOURCES_BESIDE.format(asked), (source, *types, source, *types, _MOST_SOURCES))


def weeks_of_span(query: IocQuery) -> Sql:
    """Return (type, week, count) for a query that `is_span`: read from an index alone, in its order."""
    where = plain_filters(query)
    return Sql(
        f"""SELECT type, {WEEK.replace("last_seen", "-newest_first")}, count(*) FROM iocs INDEXED BY iocs_of_type
            {where.text} GROUP BY type, newest_first""",
        where.parameters,
    )


def sources_of_span(query: IocQuery) -> Sql:
    """Return (source_name, count) of those with the most, in order, for a query that `is_span`."""
    where = plain_filters(query)
    return Sql(_SOURCES_OF_SPAN.format(where.text), (*where.parameters, _MOST_SOURCES))


def _of_kinds(connection: sqlite3.Connection, rows: Rows) -> Facets:
    kinds: Counter[int] = Counter()
    sources: Counter[int] = Counter()
    for key, count in rows:
        of_source, kind = divmod(key + _KINDS // 2, _KINDS)
        source, shared = divmod(of_source, _SHARED)
        kind -= _KINDS // 2
        sources[source] += count
        if shared < FURTHER:
            kinds[kind] += count
    weeks = ((IOC_TYPES[kind % MOST_TYPES], kind // MOST_TYPES, count) for kind, count in kinds.items())
    named = [(-count, *connection.execute(_NAME, (seq,)).fetchone()) for seq, count in sources.items()]
    return _facets(weeks, ((name, -fewest) for fewest, name in sorted(named)[:_MOST_SOURCES]))


def _facets(weeks_of_types: Rows, sources: Rows) -> Facets:
    types: Counter[str] = Counter()
    weeks: Counter[int] = Counter()
    for type, week, count in weeks_of_types:
        types[type] += count
        weeks[week] += count
    newest = sorted(weeks, reverse=True)[:_MOST_WEEKS]
    most_first = sorted(types.items(), key=lambda counted: (-counted[1], counted[0]))
    return Facets(dict(most_first), dict(map(tuple, sources)), {_week_id(week): weeks[week] for week in newest})


def _week_id(week: int) -> str:
    year, number, _ = from_milliseconds(_MONDAY + week * WEEK_MILLISECONDS).isocalendar()
    return f"{year:04}-W{number:02}"


# As `week_of` has it, rounded down before 1970 too.
_SINCE_MONDAY = f"(last_seen - {_MONDAY})"
_LENGTH = WEEK_MILLISECONDS
WEEK = f"({_SINCE_MONDAY} - ({_SINCE_MONDAY} % {_LENGTH} + {_LENGTH}) % {_LENGTH}) / {_LENGTH}"
_MOST_FIRST = "ORDER BY iocs DESC, name LIMIT ?"
_SOURCES = f"""
    SELECT name, sum(iocs) AS iocs FROM source_counts CROSS JOIN sources ON sources.seq = source_seq
    WHERE {{}} GROUP BY source_seq {_MOST_FIRST}
"""
# All of a source's indicators count for itself; for others only those that it shares.
_SOURCES_BESIDE = f"""
    SELECT name, sum(counted.iocs) AS iocs FROM (
        SELECT source_seq, iocs FROM source_counts WHERE {OF_SOURCE} AND {{0}}
        UNION ALL
        SELECT other.source_seq, 1
        FROM ioc_sources AS own INDEXED BY ioc_sources_shared CROSS JOIN ioc_sources AS other
            ON other.ioc_seq = own.ioc_seq AND other.source_seq <> own.source_seq
        CROSS JOIN iocs ON iocs.seq = own.ioc_seq
        WHERE own.shared AND own.{OF_SOURCE} AND {{0}}
    ) AS counted CROSS JOIN sources ON sources.seq = counted.source_seq
    GROUP BY counted.source_seq {_MOST_FIRST}
"""
_SOURCES_OF_SPAN = f"""
    SELECT name, listed.iocs FROM (
        SELECT source_seq, count(*) AS iocs FROM source_lists {{}} GROUP BY source_seq
    ) AS listed CROSS JOIN sources ON sources.seq = listed.source_seq {_MOST_FIRST}
"""
# One number to group by takes half the time of three.
_KINDS, _SHARED = 1 << 24, 4
_KINDS_OF_MATCHING = f"""
    SELECT (source_seq * {_SHARED} + shared) * {_KINDS} + kind AS key, count(*)
    FROM ({{}}) AS matching CROSS JOIN ioc_sources ON ioc_seq = matching.seq GROUP BY key
"""
_NAME = "SELECT name FROM sources WHERE seq = ?"
