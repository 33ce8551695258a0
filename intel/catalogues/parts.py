"""A catalogue as parts: entries by key, spread over 1,024 compressed pieces, so that one entry is one small read.

A part unfolds to lines `key TAB text`, each line between line ends, so that a key is found without parsing the others.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from intel.errors import CatalogueUnreadable

PART_COUNT = 1024
LARGEST_PART_BYTES = 1_000_000
_LARGEST_UNFOLDED_BYTES = 64_000_000


def part_of(key: str) -> str:
    """Return the name of the part that holds a key."""
    return f"{zlib.crc32(key.encode()) % PART_COUNT:03x}"


def all_parts() -> tuple[str, ...]:
    """Return the names of all parts."""
    return tuple(f"{number:03x}" for number in range(PART_COUNT))


def split(entries: Mapping[str, str]) -> dict[str, bytes]:
    """Return the parts of entries by key; keys and texts hold no line ends, keys no tabs."""
    lines: dict[str, list[str]] = defaultdict(list)
    for key in sorted(entries):
        lines[part_of(key)].append(f"{key}\t{entries[key]}")
    return {part: pack(found) for part, found in lines.items()}


def pack(lines: Iterable[str]) -> bytes:
    """Compress one part; raise CatalogueUnreadable if it is too large to store."""
    part = zlib.compress(("\n" + "\n".join(lines) + "\n").encode(), 6)
    if len(part) > LARGEST_PART_BYTES:
        raise CatalogueUnreadable("The catalogue has more entries than can be kept.")
    return part


def unpack(part: bytes) -> str:
    """Return the lines of a part, each between line ends."""
    return zlib.decompressobj().decompress(part, _LARGEST_UNFOLDED_BYTES).decode()


def find(lines: str, key: str) -> str | None:
    """Return the text of a key in an unpacked part, or None."""
    start = lines.find(f"\n{key}\t")
    if start < 0:
        return None
    start += len(key) + 2
    return lines[start : lines.index("\n", start)]


def entries_of(part: bytes) -> Iterator[tuple[str, str]]:
    """Yield every (key, text) of a part."""
    for line in unpack(part).split("\n"):
        key, tab, text = line.partition("\t")
        if tab:
            yield key, text
