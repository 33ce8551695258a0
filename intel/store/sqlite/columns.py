"""Type, week and source of every indicator, a byte each in order of `seq`: what filters and facets ask of very many.

They are the packed keys of `facet_keys`, turned. Half a million are read in some ten milliseconds, and a filter or a
count then goes through them in one step for each value. What several sources name has its sources in an index alone.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeGuard

import orjson

from intel.indicator_types import MOST_TYPES
from intel.query import IocFilter
from intel.records import IOC_TYPES
from intel.store.sqlite.facet_keys import IN_BLOCK, SHARED
from intel.store.sqlite.kinds import parts_of_span
from intel.store.sqlite.marked import MARK, Marked

# The lowest byte of every value in order of `seq`, and the highest unless that is the same for all.
Column = tuple[bytes, ...]

_KEY_BYTES = 8
_HIGHEST = 1 << 16
_BLOCKS_AT_ONCE = 100
# One indicator among so many.
_LEAST_SHARE = 50
# Of more values than these all are counted in one step, which takes as long as to count so many one by one.
_FEW_VALUES = 64


class Numbers(NamedTuple):
    """How many indicators there are by type, by week, and by the `seq` of their sources."""

    types: Counter[str]
    weeks: Counter[int]
    sources: Counter[int]

    def without(self, others: Numbers) -> Numbers:
        return Numbers(self.types - others.types, self.weeks - others.weeks, self.sources - others.sources)


class Columns:
    """The columns of one state of the file, read when they are first asked for."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @cached_property
    def _weeks(self) -> list[int]:
        return [week for (week,) in self._connection.execute("SELECT DISTINCT week FROM ioc_counts")]

    @cached_property
    def _sources(self) -> list[int]:
        return [seq for (seq,) in self._connection.execute("SELECT seq FROM sources")]

    @cached_property
    def are_readable(self) -> bool:
        """Whether all weeks and sources have a place: two bytes each, and no week before 1970."""
        return min(self._weeks, default=0) >= 0 and max([*self._weeks, *self._sources], default=0) < _HIGHEST

    def are_quicker(self, seqs: Sequence[int]) -> TypeGuard[Marked]:
        """Return whether these are so many that to read the columns takes less time than the key of each."""
        return isinstance(seqs, Marked) and len(seqs) * _LEAST_SHARE > len(seqs.marks) and self.are_readable

    def count(self, found: Marked) -> Numbers:
        """Count what is marked by type, week and source."""
        types, weeks, sources = self._read
        of_types = self._counted(found, types, range(1, len(IOC_TYPES) + 1))
        of_sources = self._counted(found, sources, self._sources)
        marks = found.marks + bytes(max(0, len(types[0]) - len(found.marks)))
        for source, shared in self._shared.items():
            of_sources[source] += sum(map(marks.__getitem__, shared)) // MARK
        return Numbers(
            Counter({IOC_TYPES[number - 1]: iocs for number, iocs in of_types.items()}),
            self._counted(found, weeks, self._weeks),
            +of_sources,
        )

    def of_sources(self, names: Sequence[str]) -> Marked:
        """Return what any of these sources names."""
        asked = ", ".join("?" * len(names))
        seqs = [seq for (seq,) in self._connection.execute(f"SELECT seq FROM sources WHERE name IN ({asked})", names)]
        bits = self._bits(self._read[2], seqs)
        for seq in seqs:
            shared = self._shared.get(seq, ())
            bits |= Marked.of(shared, max(shared, default=0) + 1).bits
        return Marked.of_bits(bits)

    def within(self, only: IocFilter) -> Marked:
        """Return what stands in the types, times and statuses of a filter."""
        types, weeks, _ = self._read
        bits = 0
        for span in only.spans:
            whole, rest = parts_of_span(span)
            if whole is not None:
                first, last = whole
                among = [
                    week for week in self._weeks if (first is None or week >= first) and (last is None or week <= last)
                ]
                inside = self._bits(weeks, among)
                if span.types:
                    inside &= self._bits(types, [IOC_TYPES.index(type) + 1 for type in span.types])
                bits |= inside
            for times in rest:
                for type in span.types or IOC_TYPES:
                    bits |= self._between(type, times)
        return Marked.of_bits(bits)

    def _between(self, type: str, times: tuple[int, int]) -> int:
        (some,) = self._connection.execute(_BETWEEN, (type, *times)).fetchone()
        seqs: list[int] = orjson.loads(some)
        return Marked.of(seqs, max(seqs, default=0) + 1).bits

    @staticmethod
    def _bits(column: Column, values: Iterable[int]) -> int:
        """Mark where a column has any of these values."""
        by_rest: dict[int, bytearray] = {}
        for value in values:
            rest, lowest = divmod(value, 256)
            by_rest.setdefault(rest, bytearray(256))[lowest] = MARK
        bits = 0
        for rest, lows in by_rest.items():
            some = int.from_bytes(column[0].translate(lows), "little")
            if len(column) > 1:
                highs = bytearray(256)
                highs[rest] = MARK
                some &= int.from_bytes(column[1].translate(highs), "little")
            bits |= some
        return bits

    def _counted(self, found: Marked, column: Column, values: Sequence[int]) -> Counter[int]:
        """Count the values of a column where it is marked; 0 is none."""
        counted: Counter[int] = Counter()
        lows = int.from_bytes(column[0], "little")
        for rest in {value // 256 for value in values}:
            marked = found.bits
            if len(column) > 1:
                marked &= self._bits(column[1:], [rest])
            among = [value for value in values if value // 256 == rest]
            # A value whose lowest byte is 0 is no other than what is not marked.
            masked = (lows & marked).to_bytes(len(column[0]), "little")
            every = Counter(masked) if len(among) > _FEW_VALUES else None
            for value in among:
                low = value % 256
                counted[value] = every[low] if every is not None else masked.count(low)
                if not low:
                    counted[value] = (marked.bit_count() // 8) - (len(masked) - masked.count(0))
        return +counted

    @cached_property
    def _shared(self) -> dict[int, list[int]]:
        """What several sources name, by each of them."""
        return {source: orjson.loads(seqs) for source, seqs in self._connection.execute(_SHARED_OF)}

    @cached_property
    def _read(self) -> tuple[Column, Column, Column]:
        """The columns of types (from 1 on), weeks and sources."""
        types, weeks, weeks_high, sources, sources_high = (bytearray() for _ in range(5))
        for keys in self._portions():
            parts = [keys[place::_KEY_BYTES] for place in range(6)]
            types += parts[0].translate(_TYPE)
            weeks += _joined(parts[0].translate(_HIGH_HALF), parts[1].translate(_LOW_HALF_RAISED))
            if len({week // 256 for week in self._weeks}) > 1:
                weeks_high += _joined(parts[1].translate(_HIGH_HALF), parts[2].translate(_LOW_HALF_RAISED))
            sources += _joined(parts[3].translate(_WITHOUT_SHARED), parts[4].translate(_LOWEST_RAISED))
            if max(self._sources, default=0) > 255:
                sources_high += _joined(parts[4].translate(_WITHOUT_SHARED), parts[5].translate(_LOWEST_RAISED))
        return _column(types), _column(weeks, weeks_high), _column(sources, sources_high)

    def _portions(self) -> Iterator[bytes]:
        """Yield the keys of all blocks, many at once; of a block that is missing there are none."""
        rows = self._connection.cursor()
        rows.row_factory = None
        rows.execute("SELECT block, keys FROM facet_keys ORDER BY block")
        expected = 0
        while some := rows.fetchmany(_BLOCKS_AT_ONCE):
            parts = []
            for block, keys in some:
                if block > expected:
                    parts.append(bytes((block - expected) * IN_BLOCK * _KEY_BYTES))
                parts.append(keys)
                expected = block + 1
            yield b"".join(parts)


def _column(lowest: bytearray, highest: bytearray | None = None) -> Column:
    return (bytes(lowest), bytes(highest)) if highest else (bytes(lowest),)


def _joined(one: bytes, other: bytes) -> bytes:
    """Return bytes of which each has some bits and the other the rest."""
    return (int.from_bytes(one, "little") | int.from_bytes(other, "little")).to_bytes(len(one), "little")


# A key in bytes, the lowest first: type and week fill three, then come two bits that tell how far it is shared.
_TYPE = bytes(byte % MOST_TYPES + 1 for byte in range(256))
_HIGH_HALF = bytes(byte // MOST_TYPES for byte in range(256))
_LOW_HALF_RAISED = bytes(byte * (256 // MOST_TYPES) % 256 for byte in range(256))
_WITHOUT_SHARED = bytes(byte // SHARED for byte in range(256))
_LOWEST_RAISED = bytes(byte * (256 // SHARED) % 256 for byte in range(256))
_SHARED_OF = """
    SELECT source_seq, json_group_array(ioc_seq) FROM ioc_sources INDEXED BY ioc_sources_shared
    WHERE shared GROUP BY source_seq
"""
_BETWEEN = """
    SELECT json_group_array(seq) FROM iocs INDEXED BY iocs_of_type WHERE type = ? AND newest_first BETWEEN ? AND ?
"""
