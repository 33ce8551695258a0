"""`python -m ingest.queue.alive`: exit with 0 while the worker of this host takes jobs, for health checks."""

from __future__ import annotations

import asyncio
import sys

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ingest.queue.redis import HEALTH_KEY, HEALTH_KEYS
from intel.redis_client import connection_pool
from intel.settings import load_settings

_PATIENCE_SECONDS = 3.0


async def is_alive(redis_address: str) -> bool:
    """Tell whether the worker of this host said within the last half minute that it takes jobs.

    Also True where Redis does not answer: that is no fault of the worker, and it goes on by itself when Redis is back.
    """
    redis = _open(redis_address)
    try:
        return bool(await redis.exists(HEALTH_KEY))
    except (RedisError, OSError):
        return True
    finally:
        await redis.aclose()


async def count_alive(redis_address: str) -> int | None:
    """Return on how many hosts a worker said within the last half minute that it takes jobs; None without Redis."""
    redis = _open(redis_address)
    try:
        return len({key async for key in redis.scan_iter(HEALTH_KEYS, count=1_000)})
    except (RedisError, OSError):
        return None
    finally:
        await redis.aclose()


def _open(address: str) -> Redis:
    return Redis.from_pool(
        connection_pool(address, socket_timeout=_PATIENCE_SECONDS, socket_connect_timeout=_PATIENCE_SECONDS)
    )


if __name__ == "__main__":
    sys.exit(not asyncio.run(is_alive(load_settings().redis_address or "")))
