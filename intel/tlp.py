"""The Traffic Light Protocol, version 2.0: how far those who get an article may pass it on.

    read_tlp("TLP:WHITE") -> "clear"

What is stored anybody may read who reaches the service, so that RED and AMBER+STRICT are no levels of what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

from intel.errors import InvalidQuery

Tlp = Literal["clear", "green", "amber"]

# The least strict one first. The store keeps their numbers, from 1; 0 is an article that says nothing.
LEVELS: Final[tuple[Tlp, ...]] = get_args(Tlp)
RESTRICTED: Final = ("red", "amber+strict")


def level_of(tlp: Tlp | None) -> int:
    """Return the number of a level; a stricter one has a higher number."""
    return LEVELS.index(tlp) + 1 if tlp else 0


def of_level(level: int) -> Tlp | None:
    """Return the level of a number of `level_of`."""
    return LEVELS[level - 1] if level else None


def strictest(levels: Iterable[Tlp | None]) -> Tlp | None:
    """Return the strictest of some levels; None where none of them says anything."""
    return of_level(max(map(level_of, levels), default=0))


def read_tlp(raw: str, field: str = "tlp") -> Tlp:
    """Return a level as somebody writes it. Raises InvalidQuery, which says why where it is one that is refused."""
    named = "".join(raw.lower().split()).removeprefix("tlp:")
    if named in RESTRICTED:
        raise InvalidQuery(field, f"must not be TLP:{named.upper()}: what is stored here anybody may read")
    found = next((level for level in LEVELS if level == ("clear" if named == "white" else named)), None)
    if found is None:
        raise InvalidQuery(field, f"must be one of {', '.join(LEVELS)}")
    return found
