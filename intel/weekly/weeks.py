"""ISO weeks: `2026-W47` is Monday 2026-11-16 00:00 UTC to Sunday; 2026 has 53 of them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from intel.errors import NotFound

WEEK = timedelta(days=7)
_ID = re.compile(r"([0-9]{4})-W([0-9]{2})")


def week_id(moment: datetime) -> str:
    """Return the ISO week as `2026-W47`."""
    year, week, _ = moment.astimezone(UTC).isocalendar()
    return f"{year:04}-W{week:02}"


def week_start(id: str) -> datetime:
    """Return the Monday 00:00 UTC that a week starts with. Raises NotFound if there is no such week."""
    match = _ID.fullmatch(id)
    try:
        if match is None or not 1000 <= int(match[1]) < 9999:
            raise ValueError
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
        return datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    except ValueError:
        raise NotFound("There is no such week; write it like 2026-W47.") from None
