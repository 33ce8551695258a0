"""Times as aware UTC datetimes in whole milliseconds, which every store keeps alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN_EPOCH = _EPOCH.replace(tzinfo=None)
_MILLISECOND = timedelta(milliseconds=1)


def utc_now() -> datetime:
    """Return the current time."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def to_moment(time: datetime) -> datetime:
    """Return any aware datetime in UTC, cut to whole milliseconds."""
    time = time.astimezone(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def to_milliseconds(moment: datetime) -> int:
    """Return the milliseconds since 1970."""
    return (moment - _EPOCH) // _MILLISECOND


def from_milliseconds(milliseconds: int) -> datetime:
    """Return the time that many milliseconds after 1970."""
    return _EPOCH + milliseconds * _MILLISECOND


def rfc3339(moment: datetime) -> str:
    """Return a time as `2026-11-20T09:00:00Z`, with milliseconds if there are any."""
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return text.removesuffix("+00:00") + "Z"


# Many records share their times with others, and a page of them has a hundred.
@lru_cache(maxsize=4_096)
def rfc3339_of(milliseconds: int) -> str:
    """Return what `rfc3339` writes for the time that many milliseconds after 1970."""
    seconds, beyond = divmod(milliseconds, 1000)
    text = (_PLAIN_EPOCH + timedelta(seconds=seconds)).isoformat()
    return f"{text}.{beyond:03}Z" if beyond else f"{text}Z"


def from_rfc3339(text: str) -> datetime:
    """Read a time that `rfc3339` wrote."""
    return to_moment(datetime.fromisoformat(text))


def monday_of(moment: datetime) -> datetime:
    """Return the Monday 00:00 UTC of a moment's ISO week."""
    day = moment.astimezone(UTC)
    return (day - timedelta(days=day.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
