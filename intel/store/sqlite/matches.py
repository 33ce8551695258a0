"""What the words of a search match, as numbers alone, in order: told once for all that is asked of a search."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import orjson

from intel.query import IocFilter, IocQuery, SearchText
from intel.store.sqlite import filtering
from intel.store.sqlite.columns import Columns
from intel.store.sqlite.finding import excluded, matching_seqs
from intel.store.sqlite.marked import MARK, Marked
from intel.store.sqlite.matching import ANYWHERE, Sql, matching_iocs
from intel.store.sqlite.spans import within

Seqs = Sequence[int]

# Up to so many matches are read one by one, which takes about a microsecond each.
FEW = 5_000
# Words that every indicator has are looked for in so many first ones.
FIRST = 1_000
_READ_AT_ONCE = 600_000
# Words that so many of the first indicators have are counted in so many at once: they mostly have all of them.
_DENSE = 0.9
_COUNTED_AT_ONCE = 8_192
# Characters of a JSON array that are read at once.
_PIECE = 50_000


class Matches:
    """What the words of a search match: read once, in order, for its page and for all that is counted of it."""

    def __init__(self, connection: sqlite3.Connection, text: SearchText) -> None:
        self.columns = Columns(connection)
        self._connection = connection
        self._text = text
        self._found = matching_iocs(text.clauses, ANYWHERE, text.exact_ids)
        # The engine puts all that a beginning matches together before it tells the first.
        self._begins_words = any(clause.prefix for clause in text.clauses)
        self._all: Seqs | None = None
        self._are_everything: bool | None = None

    @property
    def all(self) -> Seqs:
        if self._all is None:
            dense = None if self._begins_words else _read_dense(self._connection, self._found)
            self._all = read_seqs(self._connection, self._found) if dense is None else dense
        return self._all

    @property
    def are_everything(self) -> bool:
        """Tell whether the words are found in every indicator there is; of few it need not be told."""
        if self._are_everything is None:
            if self._all is None and not self._begins_words:
                self._are_everything = matches_everything(self._connection, self._text)
            else:
                self._are_everything = self._is_all(len(self.all))
        return self._are_everything

    def unless_much(self) -> tuple[Seqs | None, bool]:
        """Return all, or None where that is all that there is, unless that is little; and whether it is still to be
        read, for it is much.
        """
        if self._all is None:
            most = _READ_AT_ONCE if self._begins_words else FIRST
            self._all = _read_below(self._connection, self._found, most)
            if self._all is None:
                self._are_everything = matches_everything(self._connection, self._text)
                return None, not self._are_everything
        return None if self.are_everything else self._all, False

    def of(self, query: IocQuery) -> Seqs:
        """Return what a query with these words finds, in order."""
        only = query.filter
        if query.ids is not None:
            return read_seqs(self._connection, matching_seqs(query))
        if self._text.finds_addresses_alone:
            if only.types and "ip" not in only.types:
                return ()
            only = replace(only, types=("ip",) if only.statuses or only.exclude else ())
        if len(self.all) > FEW:
            return self._of_many(only)
        return let_through(self._connection, self.all, only)

    def _of_many(self, only: IocFilter) -> Seqs:
        connection, columns, seqs = self._connection, self.columns, self.all
        if only.sources and columns.are_quicker(seqs):
            seqs = common(seqs, columns.of_sources(only.sources))
            only = replace(only, sources=())
        for one in filtering.restricting_sets(only):
            seqs = common(seqs, read_seqs(connection, one))
        if filtering.of_spans(only, filtering.COLUMNS["iocs"]):
            are_quicker = columns.are_quicker(seqs)
            seqs = common(seqs, columns.within(only)) if are_quicker else within(connection, seqs, only)
        if (left_out := excluded(only)) is None:
            return seqs
        gone = {*read_seqs(connection, left_out)}
        if isinstance(seqs, Marked):
            return few_or_marked(seqs.without(gone))
        return array("q", [seq for seq in seqs if seq not in gone])

    def _is_all(self, number: int) -> bool:
        return number >= FIRST and number == count_of(self._connection, EVERYTHING)


def read_seqs(connection: sqlite3.Connection, found: Sql) -> Seqs:
    """Return what a statement selects, in order."""
    some = _read_below(connection, found, _READ_AT_ONCE)
    if some is not None:
        return some
    marks, after = _marks(connection), 0
    next = f"SELECT seq FROM ({found.text}) WHERE seq > ? ORDER BY seq LIMIT ?"
    while _mark(marks, _selected(connection, Sql(next, (*found.parameters, after, _READ_AT_ONCE)))) == _READ_AT_ONCE:
        after = marks.rfind(MARK)
    return Marked(marks)


def _read_below(connection: sqlite3.Connection, found: Sql, most: int) -> Seqs | None:
    """Return what a statement selects, in order; None where that is `most` or more."""
    some = _selected(connection, Sql(f"{found.text} LIMIT ?", (*found.parameters, most)))
    number = some.count(",") + 1
    if number >= most:
        return None
    if number <= FEW:
        return array("q", sorted(orjson.loads(some)))
    marks = _marks(connection)
    _mark(marks, some)
    return Marked(marks)


def _marks(connection: sqlite3.Connection) -> bytearray:
    """Return room for the marks of all indicators."""
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM iocs").fetchone()
    return bytearray(last + 1)


def _mark(marks: bytearray, some: str) -> int:
    """Mark the numbers of a JSON array, and return how many there are.

    Read in pieces, which stay in the processor's memory, half a million take a fifth of the time.
    """
    number, start, end = 0, 1, len(some) - 1
    while start < end:
        stop = some.find(",", start + _PIECE, end)
        stop = end if stop < 0 else stop
        seqs = orjson.loads(f"[{some[start:stop]}]")
        for seq in seqs:
            marks[seq] = MARK
        number, start = number + len(seqs), stop + 1
    return number


def few_listed(connection: sqlite3.Connection, query: IocQuery) -> Seqs | None:
    """Return what a list of sources and of malware holds, in order; None where that is much, or another list.

    Each of the two may have very many, of which few are the other's.
    """
    only = query.filter
    if query.text is not None or query.ids is not None or not (only.sources and only.malware):
        return None
    seqs, *others = (read_seqs(connection, one) for one in filtering.listed_sets(only))
    for other in others:
        seqs = common(seqs, other)
    return let_through(connection, seqs, only) if len(seqs) <= FEW else None


def let_through(connection: sqlite3.Connection, seqs: Seqs, only: IocFilter) -> Seqs:
    """Return those of few that a filter lets through."""
    where = filtering.where(filtering.inline(only))
    return read_seqs(connection, Sql(_LET_THROUGH.format(where.text), (as_json(seqs), *where.parameters)))


def as_json(seqs: Seqs) -> str:
    return orjson.dumps([*seqs]).decode()


def matches_everything(connection: sqlite3.Connection, text: SearchText, columns: str = ANYWHERE) -> bool:
    """Tell whether the words of a search are found in every indicator there is; of few it need not be told."""
    found = matching_iocs(text.clauses, columns)
    return _are_all(connection, found, _first(connection, found))


def _first(connection: sqlite3.Connection, found: Sql, most: int = FIRST) -> list[int]:
    return _read(connection, Sql(f"{found.text} LIMIT ?", (*found.parameters, most)))


def _are_all(connection: sqlite3.Connection, found: Sql, first: list[int]) -> bool:
    """Tell whether a statement, which selects these first, selects all that there is."""
    if len(first) < FIRST or first != _read(connection, Sql(_FIRST_OF_ALL, (FIRST,))):
        return False
    return count_of(connection, counted(found)) == count_of(connection, EVERYTHING)


def _read(connection: sqlite3.Connection, found: Sql) -> list[int]:
    """Return what a statement selects, in its order."""
    seqs: list[int] = orjson.loads(_selected(connection, found))
    return seqs


def _selected(connection: sqlite3.Connection, found: Sql) -> str:
    """Return what a statement selects as a JSON array: a row for each takes ten times as long as to find it."""
    some: str
    (some,) = connection.execute(f"SELECT json_group_array(seq) FROM ({found.text})", found.parameters).fetchone()
    return some


def _read_dense(connection: sqlite3.Connection, found: Sql) -> Marked | None:
    """Return what a statement selects where that is nearly all there is; None where it is not.

    It is counted in many at once: of those that are found whole none is read.
    """
    first = _first(connection, found)
    if len(first) < FIRST or (first[-1] + 1 - first[0]) * _DENSE > FIRST:
        return None
    marks = _marks(connection)
    for start in range(0, len(marks), _COUNTED_AT_ONCE):
        end = min(start + _COUNTED_AT_ONCE, len(marks))
        some = Sql(f"SELECT seq FROM ({found.text}) WHERE seq BETWEEN ? AND ?", (*found.parameters, start, end - 1))
        if count_of(connection, counted(some)) == end - start:
            marks[start:end] = bytes((MARK,)) * (end - start)
        else:
            _mark(marks, _selected(connection, some))
    return Marked(marks)


def common(one: Seqs, other: Seqs) -> Seqs:
    """Return what stands in both, in order."""
    if isinstance(one, Marked) and isinstance(other, Marked):
        return few_or_marked(Marked.of_bits(one.bits & other.bits))
    if isinstance(one, Marked) or (not isinstance(other, Marked) and len(other) < len(one)):
        one, other = other, one
    return array("q", [seq for seq in one if holds(other, seq)])


def few_or_marked(seqs: Marked) -> Seqs:
    """Return few marked numbers as such."""
    return seqs if len(seqs) > FEW else array("q", seqs)


def holds(seqs: Seqs, seq: int) -> bool:
    if isinstance(seqs, range | Marked):
        return seq in seqs
    place = bisect_left(seqs, seq)
    return place < len(seqs) and seqs[place] == seq


def counted(found: Sql) -> Sql:
    return Sql(f"SELECT count(*) FROM ({found.text})", found.parameters)


def count_of(connection: sqlite3.Connection, statement: Sql) -> int:
    (counted,) = connection.execute(statement.text, statement.parameters).fetchone()
    return int(counted)


_LET_THROUGH = "SELECT i.seq AS seq FROM json_each(?) AS found CROSS JOIN iocs AS i ON i.seq = found.value{}"
EVERYTHING = Sql("SELECT coalesce(sum(iocs), 0) FROM ioc_counts")
_FIRST_OF_ALL = "SELECT seq FROM iocs ORDER BY seq LIMIT ?"
