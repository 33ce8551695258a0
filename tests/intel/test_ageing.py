"""How long indicators of each type speak of the present."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

from intel import ageing
from intel.ageing import LIFETIMES, Status, age, seen_between, status_at
from intel.records import IOC_TYPES
from intel.times import to_milliseconds
from tests.cases import each

SEEN = datetime(2026, 1, 1, tzinfo=UTC)


@each(
    ("type", "days", "status"),
    [
        ("ip", 0, "active"),
        ("ip", 29, "active"),
        ("ip", 30, "ageing"),
        ("ip", 89, "ageing"),
        ("ip", 90, "expired"),
        ("domain", 89, "active"),
        ("url", 90, "ageing"),
        ("domain", 365, "expired"),
        ("email", 179, "active"),
        ("email", 365, "expired"),
        ("hash_sha256", 364, "active"),
        ("hash_md5", 36_500, "ageing"),
        ("malware", 365, "ageing"),
        ("cve", 36_500, "active"),
        ("mitre_attack", 36_500, "active"),
    ],
)
def test_an_indicator_ages_by_its_type(type: str, days: int, status: str) -> None:
    assert age(type, SEEN, SEEN + timedelta(days=days)).status == status


def test_it_is_told_when_an_indicator_ages_and_expires() -> None:
    found = age("ip", SEEN, SEEN)
    assert (found.ageing_at, found.expires_at) == (SEEN + timedelta(days=30), SEEN + timedelta(days=90))
    assert age("cve", SEEN, SEEN).expires_at is None


def test_what_is_seen_in_the_future_is_active() -> None:
    assert age("ip", SEEN + timedelta(days=9), SEEN).status == "active"


def test_every_type_has_a_lifetime_that_the_table_tells() -> None:
    assert set(LIFETIMES) == set(IOC_TYPES)
    rows = [line.split("|") for line in (ageing.__doc__ or "").splitlines() if line.startswith("| ")][1:]
    told = {type: " ".join(cells) for _, types, *cells in rows for type in types.replace(",", " ").split()}
    assert set(told) == set(IOC_TYPES)
    for type, lifetime in LIFETIMES.items():
        days = (lifetime.active_days, lifetime.expires_days)
        assert all(str(day) in told[type] for day in days if day is not None), type


DAYS = (0, 29, 30, 31, 89, 90, 91, 179, 180, 364, 365, 366, 4000)
ASIDE = (timedelta(0), timedelta(milliseconds=1), -timedelta(milliseconds=1))


@each("type", IOC_TYPES)
def test_a_status_is_a_span_of_time(type: str) -> None:
    for now in (SEEN + timedelta(days=days) + aside for days in DAYS for aside in ASIDE):
        holding: list[Status] = []
        for status in get_args(Status):
            span = seen_between(type, status, now)
            if span is not None and (span[0] is None or span[0] <= SEEN) and (span[1] is None or span[1] >= SEEN):
                holding.append(status)
        assert holding == [age(type, SEEN, now).status], now


@each("type", IOC_TYPES)
def test_the_status_is_the_same_in_milliseconds(type: str) -> None:
    for now in (SEEN + timedelta(days=days) + aside for days in DAYS for aside in ASIDE):
        told = age(type, SEEN, now)
        expires_at = to_milliseconds(told.expires_at) if told.expires_at else None
        assert status_at(type, to_milliseconds(SEEN), to_milliseconds(now)) == (told.status, expires_at)
