"""What only the limiter on Redis promises: keys that vanish, Redis's clock, and errors within a second."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from api.limits.bucket import Rate
from api.limits.port import LimiterUnavailable
from api.limits.redis_limiter import RedisLimiter
from tests.contract.limiter.redis_server import RedisServer
from tests.contract.limiter.worlds import RedisWorld, fresh_key

pytestmark = pytest.mark.asyncio

RATE = Rate(10, 3600)


@dataclass(frozen=True)
class Place:
    limiter: RedisLimiter
    redis: Redis


@pytest_asyncio.fixture
async def place(redis_database: str) -> AsyncIterator[Place]:
    made = Place(RedisLimiter(redis_database), Redis.from_url(redis_database, decode_responses=True))
    yield made
    await made.limiter.close()
    await made.redis.aclose()


async def test_a_bucket_lives_in_redis_no_longer_than_it_takes_to_fill(place: Place) -> None:
    key = fresh_key()
    await place.limiter.take(key, RATE)
    assert 355_000 <= await place.redis.pttl(f"ioc:limit:{key}") <= 361_000


async def test_an_idle_bucket_vanishes_from_redis(place: Place, redis_database: str) -> None:
    key, world = fresh_key(), RedisWorld(redis_database)
    await place.limiter.take(key, Rate(10, 1))
    await world.passes(1.2)
    await world.close()
    assert await place.redis.exists(f"ioc:limit:{key}") == 0


async def test_looking_writes_nothing(place: Place) -> None:
    key = fresh_key()
    await place.limiter.peek(key, RATE)
    assert await place.redis.exists(f"ioc:limit:{key}") == 0


async def test_a_redis_that_forgot_the_script_is_told_again(place: Place) -> None:
    key = fresh_key()
    await place.limiter.take(key, RATE)
    await place.redis.script_flush()
    assert (await place.limiter.take(key, RATE)).remaining == 8


@pytest.mark.promise("limits.redis-own-clock")
async def test_this_machine_s_clock_has_no_say(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    key = fresh_key()
    for _ in range(10):
        await place.limiter.take(key, RATE)
    in_an_hour = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: in_an_hour)
    assert not (await place.limiter.take(key, RATE)).allowed


async def test_redis_s_clock_set_back_neither_gives_tokens_nor_keeps_them_back(place: Place) -> None:
    key = fresh_key()
    in_an_hour_us = int((time.time() + 3600) * 1e6)
    bucket = {"tokens": "0.25", "updated_us": str(in_an_hour_us)}
    await place.redis.hset(f"ioc:limit:{key}", mapping=bucket)  # type: ignore[misc]  # typed for both its clients
    refusal = await place.limiter.take(key, RATE)
    assert (refusal.allowed, refusal.retry_after_seconds) == (False, 270)
    counts_on_from = await place.redis.hget(f"ioc:limit:{key}", "updated_us")  # type: ignore[misc]
    assert int(counts_on_from or 0) < in_an_hour_us - 3_500_000_000


async def test_a_redis_that_is_not_there_is_an_error_of_the_port(own_redis: RedisServer) -> None:
    limiter = RedisLimiter(own_redis.url)
    own_redis.kill()
    with pytest.raises(LimiterUnavailable):
        await limiter.take(fresh_key(), RATE)
    await limiter.close()


async def test_a_redis_that_stands_still_is_given_up_within_a_second(own_redis: RedisServer) -> None:
    limiter = RedisLimiter(own_redis.url)
    own_redis.pause()
    begin = time.monotonic()
    with pytest.raises(LimiterUnavailable):
        await limiter.take(fresh_key(), RATE)
    assert time.monotonic() - begin < 10
    await limiter.close()


async def test_what_else_stands_under_a_bucket_s_name_is_an_error_of_the_port(place: Place) -> None:
    key = fresh_key()
    await place.redis.set(f"ioc:limit:{key}", "no bucket", ex=10)
    with pytest.raises(LimiterUnavailable):
        await place.limiter.take(key, RATE)


async def test_closing_twice_is_harmless(redis_database: str) -> None:
    limiter = RedisLimiter(redis_database)
    await limiter.take(fresh_key(), RATE)
    await limiter.close()
    await limiter.close()
