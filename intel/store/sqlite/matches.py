"""What the words of a search match, as numbers alone, in order: told once for all that is asked of a search."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress, count

import orjson

from intel.query import IocFilter, IocQuery, SearchText
from intel.store.sqlite import filtering
from intel.store.sqlite.finding import excluded, matching_seqs
from intel.store.sqlite.matching import ANYWHERE, Sql, matching_iocs
from intel.store.sqlite.spans import within

Seqs = Sequence[int]

# Up to so many matches are read one by one, which takes about a microsecond each.
FEW = 5_000
# Words that every indicator has are looked for in so many first ones.
FIRST = 1_000
_READ_AT_ONCE = 600_000
# Of how many numbers one is looked at to see whether they are in order, and how many places each may have among all.
_SAMPLED = 256
_PLACES_FOR_EACH = 16


class Matches:
    """What the words of a search match: read once, in order, for its page and for all that is counted of it."""

    def __init__(self, connection: sqlite3.Connection, text: SearchText) -> None:
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
            self._all = read_seqs(self._connection, self._found)
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
            first = _first(self._connection, self._found, most)
            if len(first) == most:
                self._are_everything = _are_all(self._connection, self._found, first[:FIRST])
                return None, not self._are_everything
            self._all = _in_order(first)
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
        where = filtering.where(filtering.inline(only))
        asked = (orjson.dumps([*self.all]).decode(), *where.parameters)
        return _in_order(_read(self._connection, Sql(_LET_THROUGH.format(where.text), asked)))

    def _of_many(self, only: IocFilter) -> Seqs:
        connection, seqs = self._connection, self.all
        for one in filtering.restricting_sets(only):
            seqs = common(seqs, read_seqs(connection, one))
        if filtering.of_spans(only, filtering.COLUMNS["iocs"]):
            seqs = within(connection, seqs, only)
        if (left_out := excluded(only)) is None:
            return seqs
        gone = {*read_seqs(connection, left_out)}
        return array("q", [seq for seq in seqs if seq not in gone])

    def _is_all(self, number: int) -> bool:
        return number >= FIRST and number == count_of(self._connection, EVERYTHING)


def read_seqs(connection: sqlite3.Connection, found: Sql) -> Seqs:
    """Return what a statement selects, in order, in eight bytes each."""
    some = _first(connection, found, _READ_AT_ONCE)
    if len(some) < _READ_AT_ONCE:
        return _in_order(some)
    seqs = array("q")
    while len(some) == _READ_AT_ONCE:
        after = (seqs[-1] if seqs else 0, _READ_AT_ONCE)
        next = f"SELECT seq FROM ({found.text}) WHERE seq > ? ORDER BY seq LIMIT ?"
        some = _read(connection, Sql(next, (*found.parameters, *after)))
        seqs.extend(some)
    return seqs


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
    """Return what a statement selects, handed over in one row: a row for each takes ten times as long as to find it."""
    (some,) = connection.execute(f"SELECT json_group_array(seq) FROM ({found.text})", found.parameters).fetchone()
    seqs: list[int] = orjson.loads(some)
    return seqs


def _in_order(seqs: list[int]) -> Seqs:
    """Return numbers in order: words give them so; to sort many others costs more than to mark each in its place."""
    if not seqs:
        return ()
    few = seqs[::_SAMPLED]
    if few == sorted(few) or max(seqs) > _PLACES_FOR_EACH * len(seqs):
        return array("q", sorted(seqs))
    marks = bytearray(max(seqs) + 1)
    for seq in seqs:
        marks[seq] = 1
    return array("q", compress(count(), marks))


def common(one: Seqs, other: Seqs) -> Seqs:
    """Return what stands in both, in order."""
    if not one or len(other) < FIRST:
        return [seq for seq in other if holds(one, seq)]
    marks = bytearray(max(one[-1], other[-1]) + 1)
    for seq in other:
        marks[seq] = 1
    return array("q", compress(one, map(marks.__getitem__, one)))


def holds(seqs: Seqs, seq: int) -> bool:
    if isinstance(seqs, range):
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
