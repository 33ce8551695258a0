"""The result of reading a catalogue's file, and the checks of its values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from intel.errors import CatalogueUnreadable
from intel.times import to_moment

LONGEST_TEXT: Final = 500
_CVE: Final = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A catalogue as read: the moment it speaks of (None if it does not say), its entries by key, and notes for the
    operator.
    """

    as_of: datetime | None
    entries: dict[str, str]
    notes: tuple[str, ...] = ()


Parse = Callable[[Iterable[bytes]], Parsed]


def cve_of(value: Any) -> str | None:
    """Return a CVE's id in canonical form, or None."""
    if not isinstance(value, str) or not _CVE.fullmatch(found := value.strip().upper()):
        return None
    return found


def number_of(value: Any, most: float) -> float | None:
    """Return a number from 0 to `most`, or None."""
    if isinstance(value, bool):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and 0 <= found <= most else None


def text_member(value: Any, longest: int = LONGEST_TEXT) -> str:
    """Return a text in one line, without control characters; empty if the member is no text."""
    if not isinstance(value, str):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in value[: 4 * longest]).split())[:longest]


def day_of(value: Any) -> date | None:
    """Return a date written as `2026-11-20`, or None."""
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def moment_of(value: Any) -> datetime | None:
    """Return a time in RFC 3339 (UTC if it names no zone), or None."""
    try:
        found = datetime.fromisoformat(value)
        moment = to_moment(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (TypeError, ValueError, OverflowError):
        return None
    return moment if 1990 <= moment.year < 9000 else None


def not_future(as_of: datetime | None, now: datetime) -> datetime:
    """Return the moment a catalogue speaks of; now if it is missing or further ahead than clocks may differ."""
    return as_of if as_of is not None and as_of <= now + timedelta(days=1) else now


def refuse(what: str, why: str) -> CatalogueUnreadable:
    """Return the error for a file that is not `what`."""
    return CatalogueUnreadable(f"This is no {what}: {why}.")
