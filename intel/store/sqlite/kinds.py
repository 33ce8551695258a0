"""Type and week of an indicator in one number, which takes less time to count by."""

from __future__ import annotations

from functools import lru_cache

from intel.indicator_types import MOST_TYPES
from intel.query import Span
from intel.records import IOC_TYPES
from intel.times import to_milliseconds

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


def parts_of_span(span: Span) -> tuple[tuple[int | None, int | None] | None, list[tuple[int, int]]]:
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


# As `week_of` has it, rounded down before 1970 too.
_SINCE_MONDAY = f"(last_seen - {_MONDAY})"
_LENGTH = WEEK_MILLISECONDS
WEEK = f"({_SINCE_MONDAY} - ({_SINCE_MONDAY} % {_LENGTH} + {_LENGTH}) % {_LENGTH}) / {_LENGTH}"
