"""What only the limiter in memory promises: bounded memory."""

from __future__ import annotations

import pytest

from api.limits.bucket import Rate
from api.limits.memory import MemoryLimiter
from tests.contract.limiter.worlds import ManualClock

pytestmark = pytest.mark.asyncio


async def test_never_more_buckets_are_kept_than_allowed() -> None:
    limiter = MemoryLimiter(clock=ManualClock(), max_buckets=100)
    for number in range(1_000):
        await limiter.take(f"list:{number}", Rate(30, 60))
    assert len(limiter) == 100


async def test_the_bucket_unused_for_longest_goes_first() -> None:
    limiter, rate = MemoryLimiter(clock=ManualClock(), max_buckets=2), Rate(30, 60)
    for key in ("old", "busy", "busy", "old", "busy", "new"):
        await limiter.take(key, rate)
    assert (await limiter.peek("busy", rate)).remaining == 27
    assert (await limiter.peek("old", rate)).remaining == 30


async def test_buckets_that_are_full_again_are_forgotten() -> None:
    clock = ManualClock()
    limiter = MemoryLimiter(clock=clock)
    for number in range(500):
        await limiter.take(f"list:{number}", Rate(30, 60))
    await limiter.take("search:1", Rate(10, 3600))
    clock.now += 120
    await limiter.take("list:0", Rate(30, 60))
    assert len(limiter) == 2


async def test_looking_keeps_nothing() -> None:
    limiter = MemoryLimiter(clock=ManualClock())
    await limiter.peek("key:1", Rate(100, 60))
    assert len(limiter) == 0
