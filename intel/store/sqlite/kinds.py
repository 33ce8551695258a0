"""Type and week of an indicator in one number, which takes less time to count by."""

from __future__ import annotations

from functools import lru_cache

from intel.indicator_types import MOST_TYPES
from intel.records import IOC_TYPES

WEEK_MILLISECONDS = 7 * 86_400_000
_MONDAY = -3 * 86_400_000  # 1969-12-29


def week_of(moment: int) -> int:
    """Return the week of a time in milliseconds, in weeks since the first Monday."""
    return (moment - _MONDAY) // WEEK_MILLISECONDS


def week_begins(week: int) -> int:
    """Return the first millisecond of a week."""
    return _MONDAY + week * WEEK_MILLISECONDS


@lru_cache(maxsize=1_024)
def kind_of(type: str, last_seen: int) -> int:
    """Return type and week of an indicator in one number, which takes less time to count by."""
    return week_of(last_seen) * MOST_TYPES + IOC_TYPES.index(type)


def parts_of_kind(kind: int) -> tuple[str, int]:
    """Return type and week, as `kind_of` was given them."""
    return IOC_TYPES[kind % MOST_TYPES], kind // MOST_TYPES


# As `week_of` has it, rounded down before 1970 too.
_SINCE_MONDAY = f"(last_seen - {_MONDAY})"
_LENGTH = WEEK_MILLISECONDS
WEEK = f"({_SINCE_MONDAY} - ({_SINCE_MONDAY} % {_LENGTH} + {_LENGTH}) % {_LENGTH}) / {_LENGTH}"
