"""Buckets in Redis, shared by every server that uses it."""

from __future__ import annotations

import asyncio
from importlib.resources import files

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from api.limits.bucket import TOLERANCE_TOKENS, Decision, Rate, decision
from api.limits.port import LimiterUnavailable

_PREFIX = "ioc:limit:"
_MAX_CONNECTIONS = 64
_TIMEOUT_SECONDS = 1.0


class RedisLimiter:
    """`Limiter` on one Redis: a script decides and writes in one step, on Redis's clock.

    `url` is redis://, rediss:// or unix://. Every question is answered or given up within a second, and asked
    once: one that was lost on its way may have been charged already.
    """

    def __init__(self, url: str) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_MAX_CONNECTIONS,
            timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            socket_timeout=_TIMEOUT_SECONDS,
        )
        self._redis = Redis.from_pool(pool)
        self._script = self._redis.register_script(files(__package__).joinpath("bucket.lua").read_bytes())

    async def take(self, key: str, rate: Rate) -> Decision:
        return await self._ask(key, rate, cost=1)

    async def peek(self, key: str, rate: Rate) -> Decision:
        return await self._ask(key, rate, cost=0)

    async def give_back(self, key: str, rate: Rate) -> None:
        await self._ask(key, rate, cost=-1)

    async def close(self) -> None:
        await self._redis.aclose()

    async def _ask(self, key: str, rate: Rate, cost: int) -> Decision:
        arguments = (rate.capacity, rate.seconds * 1_000_000, cost, TOLERANCE_TOKENS)
        try:
            # The client bounds each read and write; connecting takes several of them.
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                allowed, tokens = await self._script(keys=[_PREFIX + key], args=arguments)
        except (RedisError, OSError) as error:
            raise LimiterUnavailable(f"{type(error).__name__}: {error}") from error
        return decision(allowed == 1, float(tokens), rate)
