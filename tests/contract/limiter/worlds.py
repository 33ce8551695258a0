"""What the suite needs of each adapter: a limiter, a second client of its buckets, fresh keys, and time that passes."""

from __future__ import annotations

import asyncio
from typing import Protocol
from uuid import uuid4

from redis.asyncio import Redis

from api.limits.memory import MemoryLimiter
from api.limits.port import Limiter
from api.limits.redis_limiter import RedisLimiter
from api.limits.shared import SharedBuckets, SharedLimiter


class ManualClock:
    """Seconds that move only when told to."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class World(Protocol):
    """One adapter with everything around it."""

    limiter: Limiter
    second_client: Limiter

    async def passes(self, seconds: float) -> None:
        """Let so much time pass on the adapter's own clock."""
        ...

    async def close(self) -> None: ...


class MemoryWorld:
    """One process: both clients are the same limiter, on a clock that stands still."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.limiter: Limiter = MemoryLimiter(clock=self.clock)
        self.second_client: Limiter = self.limiter

    async def passes(self, seconds: float) -> None:
        self.clock.now += seconds

    async def close(self) -> None:
        await self.limiter.close()


class SharedWorld(MemoryWorld):
    """Two limiters on one table, as two processes have it, on a clock that stands still."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        buckets = SharedBuckets()
        self.limiter = SharedLimiter(buckets, clock=self.clock)
        self.second_client = SharedLimiter(buckets, clock=self.clock)


class RedisWorld:
    """Two servers on one Redis, whose clock runs by itself."""

    def __init__(self, url: str) -> None:
        self.limiter: Limiter = RedisLimiter(url)
        self.second_client: Limiter = RedisLimiter(url)
        self._redis = Redis.from_url(url)

    async def passes(self, seconds: float) -> None:
        end = await self._now() + seconds
        async with asyncio.timeout(seconds + 10):
            while await self._now() < end:  # noqa: ASYNC110 - a server's clock sends no event
                await asyncio.sleep(0.01)

    async def close(self) -> None:
        await self.limiter.close()
        await self.second_client.close()
        await self._redis.aclose()

    async def _now(self) -> float:
        whole, micro = await self._redis.time()
        return float(whole) + float(micro) / 1e6


def fresh_key() -> str:
    """A bucket that nobody has used."""
    return f"test:{uuid4().hex}"
