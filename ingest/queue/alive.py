"""`python -m ingest.queue.alive`: exit with 0 while the worker of this host takes jobs, for health checks."""

from __future__ import annotations

import asyncio
import sys

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ingest.queue.redis import HEALTH_KEY
from intel.redis_client import connection_pool
from intel.settings import load_settings

_PATIENCE_SECONDS = 3.0


async def is_alive(redis_address: str) -> bool:
    """Tell whether the worker of this host said within the last half minute that it takes jobs.

    Also True where Redis does not answer: that is no fault of the worker, and it goes on by itself when Redis is back.
    """
    pool = connection_pool(redis_address, socket_timeout=_PATIENCE_SECONDS, socket_connect_timeout=_PATIENCE_SECONDS)
    redis = Redis.from_pool(pool)
    try:
        return bool(await redis.exists(HEALTH_KEY))
    except (RedisError, OSError):
        return True
    finally:
        await redis.aclose()


if __name__ == "__main__":
    sys.exit(not asyncio.run(is_alive(load_settings().redis_address or "")))
