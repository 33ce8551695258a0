"""Read members of JSON that strangers wrote: whatever is not of the expected kind counts as absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from intel.times import to_moment

Object = Mapping[str, Any]


def text(holder: Object, name: str) -> str:
    """Return a member that is a string, else nothing; without characters that no text may hold."""
    value = holder.get(name)
    return value.replace("\0", "").encode(errors="replace").decode().strip() if isinstance(value, str) else ""


def objects(holder: Object, name: str) -> Iterator[Object]:
    """Return the objects of a member that is a list."""
    value = holder.get(name)
    for each in value if isinstance(value, list) else ():
        if isinstance(each, Mapping):
            yield each


def strings(holder: Object, name: str) -> tuple[str, ...]:
    """Return the strings of a member that is a list."""
    value = holder.get(name)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def moment(written: str) -> datetime | None:
    """Return a time from RFC 3339, a date, or whole seconds since 1970; None for anything else or earlier."""
    try:
        if written.isascii() and written.isdigit():
            read = datetime.fromtimestamp(int(written), UTC)
        else:
            read = datetime.fromisoformat(written)
            read = read.replace(tzinfo=read.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return to_moment(read) if read.year >= 1970 else None
