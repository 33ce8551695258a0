"""Redis out of reach: requests pass, limited per process, with one warning; later all is shared again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from structlog.testing import capture_logs

from api.limits.bucket import Rate
from api.limits.fallback import FallbackLimiter
from api.limits.memory import MemoryLimiter
from api.limits.redis_limiter import RedisLimiter
from tests.contract.limiter.redis_server import RedisServer
from tests.contract.limiter.worlds import ManualClock, fresh_key

pytestmark = pytest.mark.asyncio

RATE = Rate(10, 3600)


class ApiServer:
    """The limiter as one server has it, with its metric and its own idea of when to look for Redis again."""

    def __init__(self, url: str) -> None:
        self.clock = ManualClock()
        self.decided_locally = 0
        self.limiter = FallbackLimiter(
            RedisLimiter(url), MemoryLimiter(clock=self.clock), on_fallback=self._count, clock=self.clock
        )

    def _count(self) -> None:
        self.decided_locally += 1


@pytest_asyncio.fixture
async def server(own_redis: RedisServer) -> AsyncIterator[ApiServer]:
    made = ApiServer(own_redis.url)
    yield made
    await made.limiter.close()


def warnings(log: list[MutableMapping[str, Any]]) -> list[str]:
    return [line["event"] for line in log if line["log_level"] == "warning"]


async def test_with_redis_everything_is_shared_and_nothing_is_logged(server: ApiServer, own_redis: RedisServer) -> None:
    key, other = fresh_key(), ApiServer(own_redis.url)
    with capture_logs() as log:
        await server.limiter.take(key, RATE)
        assert (await other.limiter.take(key, RATE)).remaining == 8
    await other.limiter.close()
    assert (log, server.decided_locally) == ([], 0)


@pytest.mark.promise("limits.redis-out-of-reach")
async def test_without_redis_requests_pass_up_to_the_limit_of_the_process(
    server: ApiServer, own_redis: RedisServer
) -> None:
    own_redis.kill()
    key = fresh_key()
    decisions = [await server.limiter.take(key, RATE) for _ in range(15)]
    assert [decision.allowed for decision in decisions] == [True] * 10 + [False] * 5
    assert server.decided_locally == 15


@pytest.mark.promise("limits.redis-out-of-reach")
async def test_an_outage_is_one_warning_that_names_redis(server: ApiServer, own_redis: RedisServer) -> None:
    own_redis.kill()
    with capture_logs() as log:
        for _ in range(5):
            await asyncio.gather(*(server.limiter.take(fresh_key(), RATE) for _ in range(10)))
            server.clock.now += 1.1
    assert len(warnings(log)) == len(log) == 1
    assert "redis" in warnings(log)[0]


async def test_redis_is_used_again_when_it_is_back(server: ApiServer, own_redis: RedisServer) -> None:
    key = fresh_key()
    own_redis.kill()
    assert (await server.limiter.take(key, RATE)).remaining == 9
    own_redis.start()
    server.clock.now += 1.1
    with capture_logs() as log:
        assert (await server.limiter.take(key, RATE)).remaining == 9, "not the bucket in memory"
        assert (await server.limiter.take(key, RATE)).remaining == 8
    assert [line["log_level"] for line in log] == ["info"]
    assert server.decided_locally == 1


async def test_a_second_outage_is_warned_of_again(server: ApiServer, own_redis: RedisServer) -> None:
    with capture_logs() as log:
        for _ in range(2):
            own_redis.kill()
            await server.limiter.take(fresh_key(), RATE)
            own_redis.start()
            server.clock.now += 1.1
            await server.limiter.take(fresh_key(), RATE)
    assert len(warnings(log)) == 2


async def test_a_redis_that_was_restarted_between_two_requests_is_no_outage(
    server: ApiServer, own_redis: RedisServer
) -> None:
    with capture_logs() as log:
        await server.limiter.take(fresh_key(), RATE)
        own_redis.kill()
        own_redis.start()
        async with Redis.from_url(own_redis.url) as somebody_else:
            await somebody_else.ping()
        await server.limiter.take(fresh_key(), RATE)
    assert (log, server.decided_locally) == ([], 0)


async def test_a_redis_that_stands_still_holds_up_one_request_for_a_second_and_no_other(
    server: ApiServer, own_redis: RedisServer
) -> None:
    await server.limiter.take(fresh_key(), RATE)
    own_redis.pause()
    begin = time.monotonic()
    assert (await server.limiter.take(fresh_key(), RATE)).allowed
    assert time.monotonic() - begin < 10
    begin = time.monotonic()
    for _ in range(200):
        assert (await server.limiter.take(fresh_key(), RATE)).allowed
    assert time.monotonic() - begin < 100
    own_redis.resume()
    server.clock.now += 1.1
    before = server.decided_locally
    await server.limiter.take(fresh_key(), RATE)
    assert server.decided_locally == before


async def test_while_one_request_looks_for_redis_the_others_do_not_wait(
    server: ApiServer, own_redis: RedisServer
) -> None:
    own_redis.pause()
    await server.limiter.take(fresh_key(), RATE)
    server.clock.now += 1.1
    probe = asyncio.create_task(server.limiter.take(fresh_key(), RATE))
    await asyncio.sleep(0)
    other = asyncio.create_task(server.limiter.take(fresh_key(), RATE))
    first, _ = await asyncio.wait({probe, other}, return_when=asyncio.FIRST_COMPLETED)
    assert other in first
    assert (await probe).allowed


async def test_giving_back_falls_back_too(server: ApiServer, own_redis: RedisServer) -> None:
    own_redis.kill()
    key = fresh_key()
    assert (await server.limiter.take(key, RATE)).remaining == 9
    await server.limiter.give_back(key, RATE)
    assert (await server.limiter.peek(key, RATE)).remaining == 10


async def test_looking_falls_back_too(server: ApiServer, own_redis: RedisServer) -> None:
    own_redis.kill()
    assert (await server.limiter.peek(fresh_key(), RATE)).remaining == 10


async def test_it_tells_whether_redis_answers_though_nobody_asked_for_a_bucket(
    server: ApiServer, own_redis: RedisServer
) -> None:
    assert await server.limiter.answers()
    own_redis.kill()
    assert not await server.limiter.answers()
    assert server.decided_locally == 0
