"""How the indicators of a list or search divide: read from kept numbers where they hold, else counted over all."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from intel.query import IocQuery, Span
from intel.records import IOC_TYPES, Facets
from intel.store.sqlite import filtering
from intel.store.sqlite.columns import Columns, Numbers
from intel.store.sqlite.facet_keys import FURTHER, count_keys, parts_of
from intel.store.sqlite.filtering import OF_SOURCE
from intel.store.sqlite.finding import counted, excluded, is_counted, is_of_spans, matching_seqs
from intel.store.sqlite.kinds import WEEK, parts_of_kind, parts_of_span, week_begins
from intel.store.sqlite.matches import Matches, Seqs, few_listed, read_seqs
from intel.store.sqlite.matching import Sql
from intel.times import from_milliseconds

_MOST_SOURCES, _MOST_WEEKS = 20, 26

Rows = Iterable[sqlite3.Row] | Iterable[tuple[Any, ...]]


def divide(
    connection: sqlite3.Connection,
    query: IocQuery,
    matches: Matches | None = None,
    columns: Columns | None = None,
) -> Facets:
    """Return the facets of all that a query matches; `matches` are those of its words, where it has some. `columns` are
    those of this state of the file, where they are read for more than this.
    """
    if query.text is not None and (matches := matches or Matches(connection, query.text)).are_everything:
        query, matches = replace(query, text=None), None
    if is_counted(query):
        table, where = counted(query)
        numbers = Numbers(Counter(), Counter(), Counter())
        for type, week, iocs in connection.execute(
            f"SELECT type, week, iocs FROM {table}{where.text}", where.parameters
        ):
            numbers.types[type] += iocs
            numbers.weeks[week] += iocs
        names = source_names(query)
        return _in_order(numbers, connection.execute(names.text, names.parameters))
    if is_of_spans(query):
        return _told(connection, _of_spans(connection, query))
    if matches is not None:
        return _told(connection, _of_seqs(connection, matches.of(query), matches.columns))
    few = few_listed(connection, query)
    seqs = read_seqs(connection, matching_seqs(query)) if few is None else few
    return _told(connection, _of_seqs(connection, seqs, columns or Columns(connection)))


def divide_found(connection: sqlite3.Connection, query: IocQuery, seqs: Seqs | None, matches: Matches) -> Facets:
    """Return the facets of a search that matches these; None stands for the same query without its words."""
    if seqs is None:
        return divide(connection, replace(query, text=None))
    return _told(connection, _of_seqs(connection, seqs, matches.columns))


def source_names(query: IocQuery) -> Sql:
    """Return (source_name, count) of those with the most, in order, for a query that `is_counted`."""
    types = tuple(dict.fromkeys(query.filter.types))
    asked = f"type IN ({', '.join('?' * len(types))})" if types else "TRUE"
    if not query.filter.sources:
        return Sql(_SOURCES.format(asked), (*types, _MOST_SOURCES))
    (source,) = query.filter.sources
    return Sql(_SOURCES_BESIDE.format(asked), (source, *types, source, *types, _MOST_SOURCES))


def _of_spans(connection: sqlite3.Connection, query: IocQuery) -> Numbers:
    """Add up the kept numbers of whole weeks, count what stands before and after them, and take away what is left out:
    there is little of either.
    """
    types: Counter[str] = Counter()
    weeks: Counter[int] = Counter()
    sources: Counter[int] = Counter()
    for span in query.filter.spans:
        for one in kinds_of_span(span):
            for type, week, count in connection.execute(one.text, one.parameters):
                types[type] += count
                weeks[week] += count
        for one in sources_of_span(span):
            for source, count in connection.execute(one.text, one.parameters):
                sources[source] += count
    found, left_out = Numbers(types, weeks, sources), excluded(query.filter)
    return found.without(_of_seqs(connection, read_seqs(connection, left_out))) if left_out else found


def kinds_of_span(span: Span) -> list[Sql]:
    """Return statements for (type, week, count), of which the same type and week may come more than once."""
    weeks, rest = parts_of_span(span)
    where = filtering.where([*_of_types(span), *_between("week", weeks)])
    kept = [Sql(f"SELECT type, week, iocs FROM ioc_counts{where.text}", where.parameters)] if weeks else []
    return kept + [_kinds_between(type, times) for times in rest for type in span.types or IOC_TYPES]


def sources_of_span(span: Span) -> list[Sql]:
    """Return statements for (source_seq, count), of which the same source may come more than once."""
    weeks, rest = parts_of_span(span)
    where = filtering.where([*_of_types(span), *_between("week", weeks)])
    kept = f"SELECT source_seq, sum(iocs) FROM source_weeks{where.text} GROUP BY source_seq"
    return [
        *([Sql(kept, where.parameters)] if weeks else []),
        *(Sql(_SOURCES_BETWEEN, (type, *times)) for times in rest for type in span.types or IOC_TYPES),
    ]


def _kinds_between(type: str, times: tuple[int, int]) -> Sql:
    return Sql(_KINDS_BETWEEN, (type, *times))


def _of_types(span: Span) -> list[Sql]:
    return [Sql(f"type IN ({', '.join('?' * len(span.types))})", span.types)] if span.types else []


def _between(column: str, bounds: tuple[int | None, int | None] | None) -> list[Sql]:
    first, last = bounds or (None, None)
    return [
        *([] if first is None else [Sql(f"{column} >= ?", (first,))]),
        *([] if last is None else [Sql(f"{column} <= ?", (last,))]),
    ]


def _of_seqs(connection: sqlite3.Connection, seqs: Seqs, columns: Columns | None = None) -> Numbers:
    if columns is not None and columns.are_quicker(seqs):
        return columns.count(seqs)
    types: Counter[str] = Counter()
    weeks: Counter[int] = Counter()
    sources: Counter[int] = Counter()
    for key, count in count_keys(connection, seqs).items():
        source, shared, kind = parts_of(key)
        sources[source] += count
        if shared < FURTHER:
            type, week = parts_of_kind(kind)
            types[type] += count
            weeks[week] += count
    return Numbers(types, weeks, sources)


def _told(connection: sqlite3.Connection, numbers: Numbers) -> Facets:
    counted = ((seq, count) for seq, count in numbers.sources.items() if count)
    named = [(-count, *connection.execute(_NAME, (seq,)).fetchone()) for seq, count in counted]
    return _in_order(numbers, ((name, -fewest) for fewest, name in sorted(named)[:_MOST_SOURCES]))


def _in_order(numbers: Numbers, sources: Rows) -> Facets:
    newest = sorted((week for week, count in numbers.weeks.items() if count), reverse=True)[:_MOST_WEEKS]
    types = ((type, count) for type, count in numbers.types.items() if count)
    most_first = sorted(types, key=lambda counted: (-counted[1], counted[0]))
    return Facets(dict(most_first), dict(map(tuple, sources)), {_week_id(week): numbers.weeks[week] for week in newest})


def _week_id(week: int) -> str:
    year, number, _ = from_milliseconds(week_begins(week)).isocalendar()
    return f"{year:04}-W{number:02}"


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
# Read from an index alone, in its order.
_KINDS_BETWEEN = f"""
    SELECT type, {WEEK.replace("last_seen", "-newest_first")}, count(*) FROM iocs INDEXED BY iocs_of_type
    WHERE type = ? AND newest_first BETWEEN ? AND ? GROUP BY newest_first
"""
_SOURCES_BETWEEN = """
    SELECT s.seq, count(*) FROM sources AS s CROSS JOIN source_lists AS l INDEXED BY source_lists_of_type
        ON l.source_seq = s.seq AND l.type = ? AND l.newest_first BETWEEN ? AND ?
    GROUP BY s.seq
"""
_NAME = "SELECT name FROM sources WHERE seq = ?"
