"""How the indicators of a list or search divide: read from kept numbers where they hold, else counted over all."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from intel.query import IocQuery, Span
from intel.records import IOC_TYPES, Facets
from intel.store.sqlite import filtering
from intel.store.sqlite.facet_keys import FURTHER, count_keys, parts_of
from intel.store.sqlite.filtering import OF_SOURCE
from intel.store.sqlite.finding import counted, excluded, is_counted, is_of_spans, matching_seqs
from intel.store.sqlite.kinds import WEEK, parts_of_kind, week_begins, week_of
from intel.store.sqlite.matches import Matches, Seqs, read_seqs
from intel.store.sqlite.matching import Sql
from intel.times import from_milliseconds, to_milliseconds

_MOST_SOURCES, _MOST_WEEKS = 20, 26

Rows = Iterable[sqlite3.Row] | Iterable[tuple[Any, ...]]


def divide(connection: sqlite3.Connection, query: IocQuery, matches: Matches | None = None) -> Facets:
    """Return the facets of all that a query matches; `matches` are those of its words, where it has some."""
    if query.text is not None and (matches := matches or Matches(connection, query.text)).are_everything:
        query, matches = replace(query, text=None), None
    if is_counted(query):
        table, where = counted(query)
        weeks = connection.execute(f"SELECT type, week, iocs FROM {table}{where.text}", where.parameters)
        names = source_names(query)
        return _facets(weeks, connection.execute(names.text, names.parameters))
    if is_of_spans(query):
        return _told(connection, _of_spans(connection, query))
    seqs = read_seqs(connection, matching_seqs(query)) if matches is None else matches.of(query)
    return _told(connection, _of_seqs(connection, seqs))


def divide_found(connection: sqlite3.Connection, query: IocQuery, seqs: Seqs | None) -> Facets:
    """Return the facets of a search that matches these; None stands for the same query without its words."""
    if seqs is None:
        return divide(connection, replace(query, text=None))
    return _told(connection, _of_seqs(connection, seqs))


def source_names(query: IocQuery) -> Sql:
    """Return (source_name, count) of those with the most, in order, for a query that `is_counted`."""
    types = tuple(dict.fromkeys(query.filter.types))
    asked = f"type IN ({', '.join('?' * len(types))})" if types else "TRUE"
    if not query.filter.sources:
        return Sql(_SOURCES.format(asked), (*types, _MOST_SOURCES))
    (source,) = query.filter.sources
    return Sql(_SOURCES_BESIDE.format(asked), (source, *types, source, *types, _MOST_SOURCES))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """How many indicators there are by (type, week), and by the `seq` of their sources."""

    kinds: Counter[tuple[str, int]]
    sources: Counter[int]

    def without(self, others: _Numbers) -> _Numbers:
        return _Numbers(self.kinds - others.kinds, self.sources - others.sources)


def _of_spans(connection: sqlite3.Connection, query: IocQuery) -> _Numbers:
    """Add up the kept numbers of whole weeks, count what stands before and after them, and take away what is left out:
    there is little of either.
    """
    kinds: Counter[tuple[str, int]] = Counter()
    sources: Counter[int] = Counter()
    for span in query.filter.spans:
        for one in kinds_of_span(span):
            for type, week, count in connection.execute(one.text, one.parameters):
                kinds[type, week] += count
        for one in sources_of_span(span):
            for source, count in connection.execute(one.text, one.parameters):
                sources[source] += count
    found, left_out = _Numbers(kinds, sources), excluded(query.filter)
    return found.without(_of_seqs(connection, read_seqs(connection, left_out))) if left_out else found


def kinds_of_span(span: Span) -> list[Sql]:
    """Return statements for (type, week, count), of which the same type and week may come more than once."""
    weeks, rest = _parts(span)
    where = filtering.where([*_of_types(span), *_between("week", weeks)])
    kept = [Sql(f"SELECT type, week, iocs FROM ioc_counts{where.text}", where.parameters)] if weeks else []
    return kept + [_kinds_between(type, times) for times in rest for type in span.types or IOC_TYPES]


def sources_of_span(span: Span) -> list[Sql]:
    """Return statements for (source_seq, count), of which the same source may come more than once."""
    weeks, rest = _parts(span)
    where = filtering.where([*_of_types(span), *_between("week", weeks)])
    kept = f"SELECT source_seq, sum(iocs) FROM source_weeks{where.text} GROUP BY source_seq"
    return [
        *([Sql(kept, where.parameters)] if weeks else []),
        *(Sql(_SOURCES_BETWEEN, (type, *times)) for times in rest for type in span.types or IOC_TYPES),
    ]


def _kinds_between(type: str, times: tuple[int, int]) -> Sql:
    return Sql(_KINDS_BETWEEN, (type, *times))


def _parts(span: Span) -> tuple[tuple[int | None, int | None] | None, list[tuple[int, int]]]:
    """Return the first and last whole week of a span, and what stands before and after them as least and greatest
    `newest_first`.
    """
    since = None if span.since is None else to_milliseconds(span.since)
    until = None if span.until is None else to_milliseconds(span.until)
    first = None if since is None else week_of(since - 1) + 1
    last = None if until is None else week_of(until + 1) - 1
    if since is not None and until is not None and week_of(since - 1) >= week_of(until + 1) - 1:
        return None, [(-until, -since)]
    rest = []
    if since is not None and first is not None and since < week_begins(first):
        rest.append((1 - week_begins(first), -since))
    if until is not None and last is not None and week_begins(last + 1) <= until:
        rest.append((-until, -week_begins(last + 1)))
    return (first, last), rest


def _of_types(span: Span) -> list[Sql]:
    return [Sql(f"type IN ({', '.join('?' * len(span.types))})", span.types)] if span.types else []


def _between(column: str, bounds: tuple[int | None, int | None] | None) -> list[Sql]:
    first, last = bounds or (None, None)
    return [
        *([] if first is None else [Sql(f"{column} >= ?", (first,))]),
        *([] if last is None else [Sql(f"{column} <= ?", (last,))]),
    ]


def _of_seqs(connection: sqlite3.Connection, seqs: Seqs) -> _Numbers:
    kinds: Counter[tuple[str, int]] = Counter()
    sources: Counter[int] = Counter()
    for key, count in count_keys(connection, seqs).items():
        source, shared, kind = parts_of(key)
        sources[source] += count
        if shared < FURTHER:
            kinds[parts_of_kind(kind)] += count
    return _Numbers(kinds, sources)


def _told(connection: sqlite3.Connection, numbers: _Numbers) -> Facets:
    weeks = ((type, week, count) for (type, week), count in numbers.kinds.items() if count)
    counted = ((seq, count) for seq, count in numbers.sources.items() if count)
    named = [(-count, *connection.execute(_NAME, (seq,)).fetchone()) for seq, count in counted]
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
