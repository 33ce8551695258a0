"""Tells a list of hosts from a list of files: by the items above and below one that could be either."""

from __future__ import annotations

import re
from typing import Final

from ingest.indicators.reading import Reading
from ingest.indicators.sightings import Sighting

FARTHEST_NEIGHBOUR: Final = 6
WIDEST_GAP: Final = 24

_HOSTS: Final = frozenset({"domain", "url", "ip"})
_WORD: Final = re.compile(r"[^\W_]")


def in_company(text: str, seen: list[Sighting], index: int) -> bool:
    """Whether the list that `seen[index]` is an item of also holds a host that is certainly one."""
    near = seen[max(0, index - FARTHEST_NEIGHBOUR) : index + FARTHEST_NEIGHBOUR + 1]
    if not any(_is_a_host(reading) for reading, _, _ in near):
        return False
    return _reaches_a_host(text, seen, index, 1) or _reaches_a_host(text, seen, index, -1)


def _is_a_host(reading: Reading) -> bool:
    return not reading.remark and reading.type in _HOSTS


def _reaches_a_host(text: str, seen: list[Sighting], index: int, step: int) -> bool:
    here = seen[index]
    for other in range(index + step, index + step * (FARTHEST_NEIGHBOUR + 1), step):
        if not 0 <= other < len(seen):
            return False
        there = seen[other]
        (_, _, end), (_, start, _) = (here, there) if step > 0 else (there, here)
        if not _stands_next(text, end, start):
            return False
        if _is_a_host(there[0]):
            return True
        here = there
    return False


def _stands_next(text: str, end: int, start: int) -> bool:
    """Whether nothing but the signs of a list parts two items on lines of their own."""
    if end > start:
        return True
    return start - end <= WIDEST_GAP and "\n" in text[end:start] and not _WORD.search(text, end, start)
