"""Tell how current an indicator is: counted in days from `last_seen`, by its type.

| type | active | ageing | then |
|---|---|---|---|
| ip | 30 days | until day 90 | expired: addresses change hands |
| url, domain | 90 days | until day 365 | expired |
| email | 180 days | until day 365 | expired |
| hash_md5, hash_sha1, hash_sha256 | 365 days | for good | a file stays what it is, but is seldom used again |
| malware | 365 days | for good | a family comes back |
| cve, mitre_attack | for good | | they name what exists, not who uses it |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Literal

from intel.indicator_types import INDICATOR_TYPES

Status = Literal["active", "ageing", "expired"]


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Days after the last sighting until an indicator is ageing and until it has expired; None means never."""

    active_days: int | None
    expires_days: int | None


@dataclass(frozen=True, slots=True)
class Age:
    """The status of an indicator, and when it begins to age and expires; None means never."""

    status: Status
    ageing_at: datetime | None
    expires_at: datetime | None


# What two times of the store differ by at least.
_MOMENT: Final = timedelta(milliseconds=1)
LIFETIMES: Final[Mapping[str, Lifetime]] = MappingProxyType(
    {kind.name: Lifetime(kind.active_days, kind.expires_days) for kind in INDICATOR_TYPES}
)
_DAY: Final = timedelta(days=1) // _MOMENT
_MILLISECONDS: Final = MappingProxyType(
    {
        type: (each.active_days and each.active_days * _DAY, each.expires_days and each.expires_days * _DAY)
        for type, each in LIFETIMES.items()
    }
)


def age(type: str, last_seen: datetime, now: datetime) -> Age:
    """Return the age of an indicator of that type at `now`."""
    lifetime = LIFETIMES[type]
    ageing_at = _after(last_seen, lifetime.active_days)
    expires_at = _after(last_seen, lifetime.expires_days)
    if expires_at is not None and now >= expires_at:
        return Age("expired", ageing_at, expires_at)
    return Age("ageing" if ageing_at is not None and now >= ageing_at else "active", ageing_at, expires_at)


def status_at(type: str, last_seen: int, now: int) -> tuple[Status, int | None]:
    """Return the status that `age` tells and when it expires, all times in milliseconds since 1970."""
    active, lasting = _MILLISECONDS[type]
    expires_at = None if lasting is None else last_seen + lasting
    if expires_at is not None and now >= expires_at:
        return "expired", expires_at
    return "ageing" if active is not None and now >= last_seen + active else "active", expires_at


def seen_between(type: str, status: Status, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """Return the span of `last_seen` (both ends included) that has that status at `now`; None if no date has it."""
    lifetime = LIFETIMES[type]
    ages, expires = _before(now, lifetime.active_days), _before(now, lifetime.expires_days)
    if status == "active":
        return (ages + _MOMENT if ages else None), None
    if status == "expired":
        return (None, expires) if expires else None
    return ((expires + _MOMENT if expires else None), ages) if ages else None


def _before(moment: datetime, days: int | None) -> datetime | None:
    return None if days is None else moment - timedelta(days=days)


def _after(moment: datetime, days: int | None) -> datetime | None:
    return None if days is None else moment + timedelta(days=days)
