"""The service with the buckets that BENCH_BUCKETS names: `none`, `memory`, or the address of a Redis."""

from __future__ import annotations

import os

from fastapi import FastAPI

from api import app as service
from api.limits.bucket import Decision, Rate, decision
from api.limits.fallback import FallbackLimiter
from api.limits.memory import MemoryLimiter
from api.limits.port import Limiter
from api.limits.redis_limiter import RedisLimiter

VARIABLE = "BENCH_BUCKETS"
APP = f"{__name__}:create_app"


class Unlimited:
    """Lets everything pass and counts nothing."""

    async def take(self, key: str, rate: Rate) -> Decision:
        return await self.peek(key, rate)

    async def peek(self, key: str, rate: Rate) -> Decision:
        return decision(True, rate.capacity, rate)

    async def give_back(self, key: str, rate: Rate) -> None:
        return

    async def answers(self) -> bool:
        return True

    async def close(self) -> None:
        return


def create_app() -> FastAPI:
    """Return the whole service; only where requests are counted differs."""
    app = service.create_app()
    (limits,) = (middleware for middleware in app.user_middleware if "limiter" in middleware.kwargs)
    limits.kwargs["limiter"] = _limiter(os.environ[VARIABLE])
    return app


def _limiter(buckets: str) -> Limiter:
    if buckets == "none":
        return Unlimited()
    memory = MemoryLimiter()
    return memory if buckets == "memory" else FallbackLimiter(RedisLimiter(buckets), memory)
