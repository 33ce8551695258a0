"""Buckets that several processes share."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from api.limits.bucket import Rate
from api.limits.shared import SharedBuckets, SharedLimiter

SLOW = Rate(100, 36_000)


def in_a_process(work: Callable[[], int]) -> int:
    """Start a process that does this and ends with the number that it returns; return its id."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(work())
        finally:
            os._exit(255)
    return child


def status_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.promise("limits.workers-share-buckets")
def test_of_many_requests_to_four_processes_exactly_as_many_pass_as_there_are_tokens() -> None:
    buckets = SharedBuckets()

    async def passed() -> int:
        limiter = SharedLimiter(buckets)
        return sum([(await limiter.take("key:one", SLOW)).allowed for _ in range(500)])

    children = [in_a_process(lambda: asyncio.run(passed())) for _ in range(4)]
    assert sum(map(status_of, children)) == SLOW.capacity


def test_a_process_that_is_killed_while_it_holds_a_bucket_leaves_it_to_the_others() -> None:
    buckets = SharedBuckets(sets=1)

    def die() -> int:
        with buckets.held("key:one", lambda: 1.0):
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert status_of(in_a_process(die)) == -signal.SIGKILL
    assert asyncio.run(SharedLimiter(buckets).take("key:one", SLOW)).remaining == SLOW.capacity - 1


async def test_where_all_places_are_taken_the_bucket_unused_for_longest_is_forgotten() -> None:
    now = 1_000.0
    limiter = SharedLimiter(SharedBuckets(sets=1), clock=lambda: now)
    for number in range(16):
        now += 1
        await limiter.take(f"key:{number}", SLOW)
    now += 1
    await limiter.take("key:0", SLOW)
    await limiter.take("key:new", SLOW)
    left = {number: (await limiter.peek(f"key:{number}", SLOW)).remaining for number in range(16)}
    assert [number for number, remaining in left.items() if remaining == SLOW.capacity] == [1]


async def test_a_bucket_that_is_full_again_gives_up_its_place_first() -> None:
    now = 1_000.0
    limiter = SharedLimiter(SharedBuckets(sets=1), clock=lambda: now)
    await limiter.take("key:slow", SLOW)
    for number in range(15):
        now += 1
        await limiter.take(f"key:{number}", Rate(1, 1))
    now += 10
    await limiter.take("key:new", SLOW)
    assert (await limiter.peek("key:slow", SLOW)).remaining == SLOW.capacity - 1
