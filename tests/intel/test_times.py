"""Moments: whole milliseconds in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intel.times import from_milliseconds, from_rfc3339, rfc3339, rfc3339_of, to_milliseconds, to_moment, utc_now
from tests.cases import each

MOMENTS = st.integers(-62_135_596_800_000, 253_402_300_799_999)


@given(MOMENTS)
def test_milliseconds_come_back_unchanged(milliseconds: int) -> None:
    moment = from_milliseconds(milliseconds)
    assert to_milliseconds(moment) == milliseconds
    assert to_moment(moment) == moment


@given(MOMENTS)
def test_text_comes_back_unchanged(milliseconds: int) -> None:
    moment = from_milliseconds(milliseconds)
    assert from_rfc3339(rfc3339(moment)) == moment


@given(MOMENTS)
def test_the_text_of_milliseconds_is_that_of_their_time(milliseconds: int) -> None:
    assert rfc3339_of(milliseconds) == rfc3339(from_milliseconds(milliseconds))


def test_text_has_milliseconds_only_where_there_are_any() -> None:
    moment = datetime(2026, 11, 20, 9, tzinfo=UTC)
    assert rfc3339(moment) == "2026-11-20T09:00:00Z"
    assert rfc3339(moment + timedelta(milliseconds=5)) == "2026-11-20T09:00:00.005Z"
    assert rfc3339(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


def test_a_moment_is_cut_to_milliseconds_and_in_utc() -> None:
    there = datetime(2026, 1, 1, 1, 2, 3, 4_999, tzinfo=timezone(timedelta(hours=2)))
    assert to_moment(there) == datetime(2025, 12, 31, 23, 2, 3, 4_000, tzinfo=UTC)
    assert to_moment(there).tzinfo is UTC


def test_now_is_a_moment() -> None:
    now = utc_now()
    assert to_moment(now) == now
    assert abs(datetime.now(UTC) - now) < timedelta(minutes=1)


@each("text", ["", "yesterday", "2026-13-01T00:00:00Z"])
def test_other_text_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        from_rfc3339(text)
