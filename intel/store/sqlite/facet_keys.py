"""What facets count of indicators, packed: of many in a row of the store, so that a broad search reads few rows.

A key is one number for source, week and type. The sources of what several name stand in `ioc_sources` alone.
"""

from __future__ import annotations

import sqlite3
import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, groupby, islice

from intel.store.sqlite.rows import to_json

# Of `ioc_sources.shared`: an only source, one of several, and every further one.
ONLY, FIRST, FURTHER = 0, 1, 2
NO_KEY = 0
IN_BLOCK = 500
SHARED = 4
_KINDS = 1 << 24
# Stands for a source in the key of what several name.
_SEVERAL = 0
_AT_ONCE = 10_000


def key_of(source_seq: int, shared: int, kind: int) -> int:
    """Return the key of an indicator for one of its sources."""
    return (source_seq * SHARED + shared) * _KINDS + kind


def key_of_several(kind: int) -> int:
    """Return the key of an indicator that several sources name."""
    return key_of(_SEVERAL, FIRST, kind)


def parts_of(key: int) -> tuple[int, int, int]:
    """Return what `key_of` was given."""
    of_source, kind = divmod(key + _KINDS // 2, _KINDS)
    return *divmod(of_source, SHARED), kind - _KINDS // 2


def write_keys(connection: sqlite3.Connection, keys: Mapping[int, int]) -> None:
    """Write the keys of indicators by `seq`, or `NO_KEY`."""
    for block, some in groupby(sorted(keys), key=lambda seq: seq // IN_BLOCK):
        stored = _block(connection, block) or array("q", bytes(8 * IN_BLOCK))
        for seq in some:
            stored[seq % IN_BLOCK] = keys[seq]
        connection.execute("REPLACE INTO facet_keys (block, keys) VALUES (?, ?)", (block, _turned(stored).tobytes()))


def count_keys(connection: sqlite3.Connection, seqs: Sequence[int]) -> Counter[int]:
    """Count indicators, given in order, by their keys for each of their sources."""
    counted: Counter[int] = Counter()
    several: list[int] = []
    for some, found in _found(connection, seqs):
        numbers = Counter(found)
        if shared := {key for key in numbers if parts_of(key)[:2] == (_SEVERAL, FIRST)}:
            several += [seq for seq, key in zip(some, found, strict=True) if key in shared]
            for key in shared:
                del numbers[key]
        counted.update(numbers)
    del counted[NO_KEY]
    for portion in _portions(several):
        counted.update(chain.from_iterable(connection.execute(_OF_SEVERAL, (to_json(portion),))))
    return counted


def sift(
    connection: sqlite3.Connection, seqs: Sequence[int], says: Callable[[int], bool | None]
) -> tuple[array[int], array[int]]:
    """Return those of indicators, given in order, of whose kind `says` is true, and those of which it tells nothing,
    or that have no key.
    """
    inside, left_open = array("q"), array("q")
    verdicts = _Verdicts(says)
    for some, found in _found(connection, seqs):
        told = [*map(verdicts.__getitem__, found)]
        inside.extend(compress(some, told))
        if None in told:
            left_open.extend(compress(some, [one is None for one in told]))
    return inside, left_open


class _Verdicts(dict[int, bool | None]):
    """What is said of each key, by its kind, said once."""

    def __init__(self, says: Callable[[int], bool | None]) -> None:
        super().__init__({NO_KEY: None})
        self._says = says

    def __missing__(self, key: int) -> bool | None:
        self[key] = said = self._says(parts_of(key)[2])
        return said


def _found(
    connection: sqlite3.Connection, seqs: Sequence[int]
) -> Iterator[tuple[Sequence[int], array[int] | list[int]]]:
    """Yield indicators, given in order, with their keys, those of a block at once; an array is a whole block."""
    blocks = dict(_blocks(seqs))
    for block, keys in connection.execute(_KEYS, (to_json([*blocks]),)):
        some, stored, first = blocks[block], _turned(array("q", keys)), block * IN_BLOCK
        yield some, stored if len(some) == IN_BLOCK else [stored[seq - first] for seq in some]


def _blocks(seqs: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the number of each block, and what of it is asked for."""
    start = 0
    while start < len(seqs):
        block = seqs[start] // IN_BLOCK
        end = bisect_left(seqs, (block + 1) * IN_BLOCK, start)
        yield block, seqs[start:end]
        start = end


def fill(connection: sqlite3.Connection) -> None:
    """Write the keys of all indicators, of which there are none yet."""
    rows = connection.execute("SELECT ioc_seq, source_seq, shared, kind FROM ioc_sources ORDER BY ioc_seq")
    while some := rows.fetchmany(_AT_ONCE):
        keys = ((seq, key_of(source, shared, kind), shared, kind) for seq, source, shared, kind in some)
        write_keys(
            connection, {seq: key if shared == ONLY else key_of_several(kind) for seq, key, shared, kind in keys}
        )


def _block(connection: sqlite3.Connection, block: int) -> array[int] | None:
    row = connection.execute("SELECT keys FROM facet_keys WHERE block = ?", (block,)).fetchone()
    return None if row is None else _turned(array("q", row[0]))


def _turned(keys: array[int]) -> array[int]:
    """Return keys in the order of bytes that a file has, little-endian, or in this machine's."""
    if sys.byteorder == "big":
        keys.byteswap()
    return keys


def _portions(seqs: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(seqs)
    while portion := [*islice(rest, _AT_ONCE)]:
        yield portion


_KEYS = "SELECT block, keys FROM facet_keys WHERE block IN (SELECT value FROM json_each(?)) ORDER BY block"
_OF_SEVERAL = f"""
    SELECT (source_seq * {SHARED} + shared) * {_KINDS} + kind
    FROM json_each(?) AS named CROSS JOIN ioc_sources ON ioc_seq = named.value
"""
