from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.limits.bucket import TOLERANCE_TOKENS, Bucket, Rate, peek, take
from tests.cases import each

RATES = st.builds(Rate, st.integers(1, 1_000), st.sampled_from([1, 60, 3600, 86400]))
MOMENTS = st.floats(0, 2e9, allow_nan=False)


@each(
    ("text", "capacity", "seconds"),
    [
        ("100/minute", 100, 60),
        ("10/hour", 10, 3600),
        ("5/second", 5, 1),
        ("1/day", 1, 86400),
        (" 30 / Minute ", 30, 60),
    ],
)
def test_a_rate_is_written_as_a_number_and_a_unit(text: str, capacity: int, seconds: int) -> None:
    assert Rate.parse(text) == Rate(capacity, seconds)


@each(
    "text",
    [
        "",
        "100",
        "0/minute",
        "-1/minute",
        "1.5/minute",
        "100/week",
        "/minute",
        "1/minute/2",
        "٣/minute",
        "9" * 99 + "/day",
    ],
)
def test_what_is_no_rate_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"such as 100/minute"):
        Rate.parse(text)


def test_a_refused_request_leaves_the_bucket_as_it_was() -> None:
    empty = Bucket(tokens=0.2, updated_at=10.0)
    kept, decision = take(empty, Rate(1, 60), 20.0)
    assert (kept, decision.allowed) == (empty, False)


def test_the_last_whole_token_passes_and_the_next_request_does_not() -> None:
    bucket, first = take(Bucket(1.0, 0.0), Rate(2, 60), 0.0)
    _, second = take(bucket, Rate(2, 60), 0.0)
    assert (first.allowed, first.remaining, first.retry_after_seconds) == (True, 0, 0)
    assert (second.allowed, second.remaining, second.retry_after_seconds) == (False, 0, 30)


def test_reset_is_the_time_until_the_bucket_is_full() -> None:
    bucket, first = take(None, Rate(100, 60), 0.0)
    assert first.reset_seconds == 1
    for _ in range(49):
        bucket, decision = take(bucket, Rate(100, 60), 0.0)
    assert decision.reset_seconds == 30
    assert peek(bucket, Rate(100, 60), 30.0).reset_seconds == 0


def test_a_clock_set_back_gives_no_tokens() -> None:
    bucket, _ = take(Bucket(5.0, 7_200.0), Rate(10, 60), 3_600.0)
    assert bucket == Bucket(4.0, 3_600.0)


def test_a_clock_set_back_keeps_no_tokens_back() -> None:
    rate = Rate(1, 60)
    bucket, refusal = take(Bucket(0.0, 7_200.0), rate, 3_600.0)
    assert not refusal.allowed
    _, later = take(bucket, rate, 3_600.0 + refusal.retry_after_seconds)
    assert later.allowed


@pytest.mark.promise("limits.retry-after-is-true")
@given(RATES, st.floats(0, 0.999), MOMENTS, MOMENTS)
def test_retry_after_is_true_and_no_longer_than_one_token_takes(
    rate: Rate, tokens: float, updated_at: float, now: float
) -> None:
    bucket, decision = take(Bucket(tokens, updated_at), rate, now)
    if not decision.allowed:
        assert 1 <= decision.retry_after_seconds <= rate.seconds / rate.capacity + 1
        assert take(bucket, rate, now + decision.retry_after_seconds)[1].allowed


@pytest.mark.promise("limits.bucket-arithmetic")
@given(RATES, st.lists(st.floats(0, 5_000), min_size=1, max_size=200))
def test_no_more_passes_than_the_capacity_and_the_refill(rate: Rate, pauses: list[float]) -> None:
    bucket: Bucket | None = None
    now, passed = 0.0, 0
    for pause in pauses:
        now += pause
        bucket, decision = take(bucket, rate, now)
        passed += decision.allowed
        since_the_first = now - pauses[0]
        assert passed <= rate.capacity + since_the_first * rate.tokens_per_second + len(pauses) * TOLERANCE_TOKENS


@given(RATES, st.lists(st.floats(-10, 5_000), min_size=1, max_size=100))
def test_a_bucket_holds_between_nothing_and_its_capacity(rate: Rate, steps: list[float]) -> None:
    bucket: Bucket | None = None
    now = 1e6
    for step in steps:
        now += step
        bucket, decision = take(bucket, rate, now)
        assert 0 <= bucket.tokens <= rate.capacity
        assert 0 <= decision.remaining <= rate.capacity
        assert 0 <= decision.reset_seconds <= rate.seconds


@given(RATES, st.floats(0, 1_000), MOMENTS)
def test_a_look_says_what_a_request_would_be_told(rate: Rate, tokens: float, now: float) -> None:
    bucket = Bucket(min(tokens, rate.capacity), now)
    assert peek(bucket, rate, now).allowed == take(bucket, rate, now)[1].allowed
