"""Pages of searches, in order of rank: class, then most sources, newest, id.

What a search matches is read once, as numbers alone: they give the total, the facets, and what stands on the page. What
matches little is sorted. Of what matches much, indexes in the order of a class are walked until the page is full; where
that takes longer than sorting would, because what matches lies far down, it is sorted after all. Words that every
indicator has, as a title that all articles share, need no numbers: with filters they are a list by sources. Nor do
words that stand in very many values: what is walked tells itself whether they stand in it, and matches are counted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import orjson

from intel.matching import Reasons
from intel.query import ANY, IocQuery, Position, SearchText
from intel.store.sqlite import matches as limits
from intel.store.sqlite.finding import ioc_list_total, ioc_sorted, ioc_walk, is_unfiltered, matching_seqs
from intel.store.sqlite.matches import (
    EVERYTHING,
    Matches,
    Seqs,
    common,
    count_of,
    counted,
    holds,
    matches_everything,
    read_seqs,
)
from intel.store.sqlite.matching import ANYWHERE, IN_VALUE, Sql, matching_iocs, of_ids
from intel.store.sqlite.rows import id_bytes

Rows = list[dict[str, int | bytes]]
# A place within a class: number of sources (negated), time (negated) and id; then the `seq` of what stands there.
_Place = tuple[int, int, bytes, int]

# How far a walk goes: some milliseconds.
_STEPS = 20_000
# More matches than these are counted, which takes a fifth of the time that it takes to read them, and values are walked
# so far where a page is expected within a quarter of it: that takes as long as to read as many matches.
_VERY_MANY = 20_000
_STEPS_OF_VALUES = 2_000
# Of matches that are read already only those in values would be read.
_SO_MANY_READ = 100_000
# Words of which none stands in so many values are those of titles.
_STEPS_WITHOUT_ONE = 250
_SORTED_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True)
class _Rank:
    """Where a page begins: after this class, number of sources (negated), time (negated) and id."""

    class_: int
    fewest_last: int
    newest_first: int
    id: bytes


_TOP = _Rank(0, -(2**62), -(2**62), b"")


@dataclass(frozen=True, slots=True)
class _Class:
    """The matches of a class: those of `seqs` that none of `others` holds; `most` is how many there may be."""

    number: int
    seqs: Seqs
    others: tuple[Seqs, ...]
    most: int

    def __contains__(self, seq: int) -> bool:
        return holds(self.seqs, seq) and not any(holds(other, seq) for other in self.others)

    def __iter__(self) -> Iterator[int]:
        if not self.others:
            return iter(self.seqs)
        return (seq for seq in self.seqs if not any(holds(other, seq) for other in self.others))


class Search:
    """A search in order of rank: what it matches is read when it is made, the rest from that."""

    def __init__(self, connection: sqlite3.Connection, query: IocQuery, text: SearchText) -> None:
        self.matches = Matches(connection, text)
        self._connection = connection
        self._query = query
        self._text = text
        # The class of all but exact values of what is read as a list, 0 for what is not.
        self._listed = 0
        self._seqs: Seqs | None = None
        # Whether what matches is so much that it is read only where a page does not come about without it.
        self._is_much = False
        if query.facets and query.after is None:
            # All that match are counted anyhow, so that whether they are everything need not be told by itself.
            _ = self.matches.all
        if is_unfiltered(query):
            self._seqs, self._is_much = self.matches.unless_much()
            return
        if query.ids is None and self.matches.are_everything:
            self._listed = _class_of_everything(connection, text)
        if not self._listed:
            self._seqs = self.matches.of(query)

    @property
    def seqs(self) -> Seqs | None:
        """What matches, in order; None where that is what the same query without its words matches."""
        if self._is_much:
            self._seqs, self._is_much = self.matches.all, False
        return self._seqs

    def page(self) -> tuple[Rows, int | None]:
        """Return one page and one record more, as `finding.ioc_search` selects them, and the total of a first page."""
        if self._listed:
            return _listed(self._connection, self._query, self._text, self._listed)
        if (page := self._page_of_values()) is not None:
            return page
        rows, start, most = Rows(), _start(self._query), self._query.limit + 1
        for one in self._classes():
            if one.number >= start.class_:
                begin = start if one.number == start.class_ else _TOP
                rows += _of_class(self._connection, one, begin, most - len(rows))
            if len(rows) == most:
                break
        return rows, self._total() if self._query.after is None else None

    def few(self, most: int) -> Seqs | None:
        """Return all that matches; None where that is more than `most`."""
        return None if self._is_much or self.seqs is None or len(self.seqs) > most else self.seqs

    def _page_of_values(self) -> tuple[Rows, int | None] | None:
        """Return a page where very many values hold the words; None where it does not come about soon."""
        connection, start, most = self._connection, _start(self._query), self._query.limit + 1
        if start.class_ > 1:
            return None
        among = None if self._is_much else self._seqs
        total = count_of(connection, counted(matching_seqs(self._query))) if self._is_much else self._total()
        if (
            total < (_VERY_MANY if among is None else _SO_MANY_READ)
            or 4 * most * count_of(connection, EVERYTHING) > total * _STEPS_OF_VALUES
        ):
            return None
        exact = read_seqs(connection, of_ids(self._text.exact_ids)) if start.class_ == 0 and self._text.exact else ()
        exact = exact if among is None else common(exact, among)
        rows = _of_class(connection, _Class(0, exact, (), len(exact)), start, most)
        begin = start if start.class_ == 1 else _TOP
        values = _values_met(connection, Reasons(self._text), begin, most - len(rows), among)
        return None if values is None else ([*rows, *_rows(1, values)], total if self._query.after is None else None)

    def _total(self) -> int:
        return count_of(self._connection, EVERYTHING) if self.seqs is None else len(self.seqs)

    def _classes(self) -> Iterator[_Class]:
        seqs = _every_seq(self._connection) if self.seqs is None else self.seqs
        return _classes(self._connection, self._query, self._text, seqs)


def sorted_page(connection: sqlite3.Connection, query: IocQuery, matches: Matches) -> tuple[Rows, int | None]:
    """Return one page and one record more of a search in the order that it asks for, and the total of a first page:
    little is sorted, of much the index of that order is walked.
    """
    seqs = matches.of(query)
    rows = _walked_in_order(connection, query, seqs) if len(seqs) > limits.FEW else None
    if rows is None:
        page = ioc_sorted(query, these(seqs))
        rows = [dict(row) for row in connection.execute(page.text, page.parameters)]
    return rows, len(seqs) if query.after is None else None


def these(seqs: Seqs) -> Sql:
    """Return a statement that selects these."""
    return Sql("SELECT value AS seq FROM json_each(?)", (limits.as_json(seqs),))


def _walked_in_order(connection: sqlite3.Connection, query: IocQuery, seqs: Seqs) -> Rows | None:
    """Return what a walk finds; None where it would go far without filling the page."""
    rows: Rows = []
    page = ioc_walk(replace(query, text=None, filter=ANY, limit=_STEPS))
    for step, row in enumerate(connection.execute(page.text, page.parameters)):
        if step == _STEPS:
            return None
        if holds(seqs, row["seq"]):
            rows.append(dict(row))
            if len(rows) > query.limit:
                break
    return rows


def _class_of_everything(connection: sqlite3.Connection, text: SearchText) -> int:
    """Return the class of all but exact values for words that every indicator has; 0 where they are of two classes."""
    if matches_everything(connection, text, IN_VALUE):
        return 1
    return 0 if _count_up_to(connection, matching_iocs(text.clauses, IN_VALUE), 1) else 2


def _listed(connection: sqlite3.Connection, query: IocQuery, text: SearchText, most: int) -> tuple[Rows, int | None]:
    """Return a page and the total of what every indicator has: those of a list by sources, exact values first."""
    whole = replace(query, text=None, sort="sources", after=None)
    total = count_of(connection, ioc_list_total(whole)) if query.after is None else None
    begun = -1 if query.after is None else int(query.after.values[0])
    after = None if query.after is None else Position(query.after.values[1:])
    if begun > most:  # the store has changed since the last page
        return [], total
    rows: Rows = []
    if begun <= 0 and text.exact_ids:
        rows = _in_class(connection, ioc_sorted(replace(whole, ids=text.exact_ids, after=after)), 0)
    exact = {*read_seqs(connection, of_ids(text.exact_ids))}
    rest = replace(whole, limit=query.limit + len(exact), after=after if begun == most else None)
    matching = _count_up_to(connection, matching_seqs(whole), limits.FEW + 1) if total is None else total
    found = _in_class(connection, ioc_sorted(rest) if matching <= limits.FEW else ioc_walk(rest), most)
    return [*rows, *(row for row in found if row["seq"] not in exact)][: query.limit + 1], total


def _in_class(connection: sqlite3.Connection, page: Sql, class_: int) -> Rows:
    """Return a page by sources as one of a search, all of that class."""
    placed = connection.execute(f"SELECT fewest_last, newest_first, id, seq FROM ({page.text})", page.parameters)
    return _rows(class_, sorted(map(tuple, placed)))


def _classes(connection: sqlite3.Connection, query: IocQuery, text: SearchText, seqs: Seqs) -> Iterator[_Class]:
    """Yield the classes of what matches, in order, each looked for when it is asked for."""
    named = read_seqs(connection, of_ids(text.exact_ids)) if text.exact_ids else ()
    exact = [seq for seq in named if holds(seqs, seq)]
    yield _Class(0, exact, (), len(exact))
    value = _in_value(connection, query, text, seqs)
    before = (exact,) if exact else ()
    yield _Class(1, value, before, len(value))
    if value is not seqs:
        yield _Class(2, seqs, (*before, value), len(seqs) - len(value))


def _in_value(connection: sqlite3.Connection, query: IocQuery, text: SearchText, seqs: Seqs) -> Seqs:
    """Return those matches in whose value every clause matches."""
    found = matching_iocs(text.clauses, IN_VALUE)
    if found == matching_iocs(text.clauses, ANYWHERE):
        return seqs
    if not is_unfiltered(query) or len(seqs) < limits.FIRST:
        value = common(seqs, read_seqs(connection, found))
        return seqs if len(value) == len(seqs) else value
    all = count_of(connection, EVERYTHING) if isinstance(seqs, range) else len(seqs)
    if any(clause.prefix for clause in text.clauses):  # to count them costs what it costs to read them
        value = read_seqs(connection, found)
        return seqs if len(value) == all else value
    number = count_of(connection, counted(found))
    return seqs if number == all else read_seqs(connection, found) if number else ()


def _start(query: IocQuery) -> _Rank:
    if query.after is None:
        return _TOP
    class_, sources, newest, id = query.after.values
    return _Rank(int(class_), -int(sources), -int(newest), id_bytes(str(id)))


def _of_class(connection: sqlite3.Connection, one: _Class, start: _Rank, limit: int) -> Rows:
    """Return the first `limit` of a class that stand after the start."""
    if not one.most:
        return []
    placed = _walked(connection, one, start, limit) if one.most > limits.FEW else None
    return _rows(one.number, _sorted(connection, one, start, limit) if placed is None else placed)


def _walked(connection: sqlite3.Connection, one: _Class, start: _Rank, limit: int) -> list[_Place] | None:
    """Return what a walk finds; None where it would go far without filling the page.

    What several sources name has an index of its own; what one names stands in the order of all indicators.
    """
    placed: list[_Place] = []
    if start.fewest_last < -1:
        asked = (-start.fewest_last, start.fewest_last, start.newest_first, start.id, _STEPS + 1)
        for step, place in enumerate(_cursor(connection).execute(_OF_MANY, asked)):
            if step == _STEPS:
                return None
            if place[-1] in one:
                placed.append(place)
                if len(placed) == limit:
                    return placed
        start = replace(start, newest_first=_TOP.newest_first, id=_TOP.id)
    newest = _cursor(connection).execute(_NEWEST, (start.newest_first, start.id, _STEPS + 1))
    for step, (newest_first, id, seq) in enumerate(newest):
        if step == _STEPS:
            return None
        if seq in one and connection.execute(_IS_OF_ONE, (seq,)).fetchone():
            placed.append((-1, newest_first, id, seq))
            if len(placed) == limit:
                return placed
    return placed


def _values_met(
    connection: sqlite3.Connection, reasons: Reasons, start: _Rank, limit: int, among: Seqs | None
) -> list[_Place] | None:
    """Return the first `limit` after the start in whose value a search is met, of these if any are given; None where a
    walk does not find them.
    """
    placed: list[_Place] = []
    for step, (type, value, *place) in enumerate(islice(_values(connection, start), _STEPS_OF_VALUES)):
        is_among = value is not None and (among is None or holds(among, place[3]))
        if is_among and reasons.class_of(type, value) == 1:
            placed.append((place[0], place[1], place[2], place[3]))
            if len(placed) == limit:
                return placed
        if step == _STEPS_WITHOUT_ONE and not placed:
            break
    return None


def _values(connection: sqlite3.Connection, start: _Rank) -> Iterator[tuple[Any, ...]]:
    """Yield type, value and place of all indicators after the start, in order; no value for steps in between."""
    newest = (start.newest_first, start.id)
    if start.fewest_last < -1:
        yield from _cursor(connection).execute(_VALUES_OF_MANY, (-start.fewest_last, start.fewest_last, *newest))
        newest = (_TOP.newest_first, _TOP.id)
    yield from _cursor(connection).execute(_VALUES_OF_ONE, newest)


def _sorted(connection: sqlite3.Connection, one: _Class, start: _Rank, limit: int) -> list[_Place]:
    """Return what sorting all that match finds."""
    placed: list[_Place] = []
    place, rest = (start.fewest_last, start.newest_first, start.id), iter(one)
    while some := [*islice(rest, _SORTED_AT_ONCE)]:
        found = _cursor(connection).execute(_SORTED, (orjson.dumps(some).decode(), *place, limit))
        placed = sorted([*placed, *found])[:limit]
    return placed


def _rows(class_: int, placed: Iterable[_Place]) -> Rows:
    return [
        {"seq": seq, "class": class_, "fewest_last": fewest_last, "newest_first": newest_first, "id": id}
        for fewest_last, newest_first, id, seq in placed
    ]


def _every_seq(connection: sqlite3.Connection) -> Seqs:
    """Return every `seq` that an indicator may have."""
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM iocs").fetchone()
    return range(1, last + 1)


def _cursor(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Return a cursor whose rows are tuples."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor


def _count_up_to(connection: sqlite3.Connection, found: Sql, most: int) -> int:
    return count_of(connection, counted(Sql(f"SELECT seq FROM ({found.text}) LIMIT {most}", found.parameters)))


_OF_MANY = """
    SELECT -sources, newest_first, id, seq FROM iocs INDEXED BY iocs_of_many_sources
    WHERE sources > 1 AND sources <= ? AND (-sources, newest_first, id) > (?, ?, ?)
    ORDER BY sources DESC, newest_first, id LIMIT ?
"""
_NEWEST = """
    SELECT newest_first, id, seq FROM iocs INDEXED BY iocs_newest WHERE (newest_first, id) > (?, ?)
    ORDER BY newest_first, id LIMIT ?
"""
_VALUES_OF_MANY = _OF_MANY.replace("SELECT ", "SELECT type, value, ").replace("LIMIT ?", "")
# What several sources name stands before.
_VALUES_OF_ONE = """
    SELECT type, CASE sources WHEN 1 THEN value END, -1, newest_first, id, seq FROM iocs INDEXED BY iocs_newest
    WHERE (newest_first, id) > (?, ?) ORDER BY newest_first, id
"""
_IS_OF_ONE = "SELECT 1 FROM iocs WHERE seq = ? AND sources = 1"
_SORTED = """
    SELECT -i.sources AS fewest_last, i.newest_first, i.id, i.seq
    FROM json_each(?) AS matching CROSS JOIN iocs AS i ON i.seq = matching.value
    WHERE (-i.sources, i.newest_first, i.id) > (?, ?, ?) ORDER BY fewest_last, i.newest_first, i.id LIMIT ?
"""
