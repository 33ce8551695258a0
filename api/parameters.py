"""Reading the parameters of lists, alike for every path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator

from api.formats.negotiating import Format
from api.limits.policy import is_blank
from intel.errors import InvalidQuery
from intel.times import to_moment

_LARGEST_COUNT = 10**9
_LONGEST_TEXT = 512
_VERY_MANY = re.compile(r"\s*\+?0*[1-9][0-9]{9,}\s*")


def _within_reach(given: object) -> object:
    """Lower a count of very many digits, which no cap admits, to one that every engine can hold."""
    return _LARGEST_COUNT if isinstance(given, str) and _VERY_MANY.fullmatch(given) else given


CountParameter = Annotated[int | None, BeforeValidator(_within_reach)]
LimitParameter = Annotated[
    int | None,
    BeforeValidator(_within_reach),
    Query(ge=1, description="how many items; 20 by default, lowered to your cap", examples=[20]),
]
ManyParameter = Annotated[
    int | None, Query(ge=1, description="how many items; 20 by default, at most 1,000", examples=[1000])
]
SearchParameter = Annotated[
    str | None,
    Query(alias="q", description="words that must all match; quotes keep words together, a trailing * is a prefix"),
]
FormatParameter = Annotated[
    Format | None, Query(description="how to answer; default what the Accept header likes best, else json")
]
CursorParameter = Annotated[str | None, Query(description="`next_cursor` of the page before; needs a key")]
SourceParameter = Annotated[str | None, Query(description="name of a source, as articles show it")]
ValueParameter = Annotated[str | None, Query(description="exact value, plain or defanged")]
SinceParameter = Annotated[str | None, Query(description="last seen at or after this date or time")]
UntilParameter = Annotated[str | None, Query(description="last seen at or before this date or time")]
AddedSinceParameter = Annotated[str | None, Query(description="stored at or after this date or time, inclusive")]

_DAY = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)


def unless_blank(text: str | None) -> str | None:
    """Return a value; None for what counts as absent: nothing but white space."""
    return None if text is None or is_blank(text) else text


def read_text(field: str, text: str | None) -> str | None:
    """Return a parameter that is data. InvalidQuery where it is too long or holds a NUL."""
    if text is None or not text.strip():
        return None
    if len(text) > _LONGEST_TEXT:
        raise InvalidQuery(field, f"must have at most {_LONGEST_TEXT} characters")
    if "\0" in text:
        raise InvalidQuery(field, "must not hold a NUL character")
    return text.encode(errors="replace").decode()


def read_since(text: str | None, field: str = "since") -> datetime | None:
    """Return the first moment meant by a date or time."""
    return _read_moment(field, text)[0] if text and text.strip() else None


def read_until(text: str | None) -> datetime | None:
    """Return the last moment meant by a date or time: a date stands for its whole day, a second for all of it."""
    if not text or not text.strip():
        return None
    moment, width = _read_moment("until", text)
    return moment + width - _MILLISECOND if width else moment


def _read_moment(field: str, text: str) -> tuple[datetime, timedelta]:
    # A plus sign that was not percent-encoded arrives as a space.
    text = text.strip().replace(" ", "+") if "T" in text.upper() else text.strip()
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        moment = to_moment(moment)
        # Room at both ends, so that every store can count from it.
        if not 1000 <= moment.year < 9999:
            raise ValueError
    except (ValueError, OverflowError):
        raise InvalidQuery(field, "must be a date (2026-11-20) or a time (2026-11-20T09:00:00Z)") from None
    if len(text) == len("2026-11-20") and ":" not in text:
        return moment, _DAY
    return moment, timedelta(0) if "." in text else timedelta(seconds=1)


def read_choice(field: str, text: str | None, choices: Sequence[str]) -> Sequence[str]:
    """Return one value or a comma list; all of them where nothing is asked. InvalidQuery for anything else."""
    if text is None:
        return choices
    wanted = [each.strip() for each in text.split(",")]
    if not set(wanted) <= set(choices):
        raise InvalidQuery(field, f"must be one or more of {', '.join(choices)}, comma-separated")
    return wanted
