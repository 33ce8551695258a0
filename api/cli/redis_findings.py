"""What `ioc doctor` says of Redis: whether it answers, what it does when its memory is full, and its clock."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from redis.asyncio import Redis

from api.cli.finding import PATIENCE_SECONDS, Finding, of_clock
from intel.clocks import seconds_ahead
from intel.redis_client import connection_pool

_KEEPS_ALL: Final = "noeviction"
_NEARLY_FULL: Final = 0.9
_KEEP_ALL: Final = (
    "Set `maxmemory-policy noeviction` in redis.conf: else it drops limits and what waits, and nobody is told."
)


async def look_at_redis(address: str) -> list[Finding]:
    """Return what there is to say. Raises RedisError or OSError where it does not answer."""
    redis = Redis.from_pool(connection_pool(address, socket_timeout=PATIENCE_SECONDS))
    try:
        info = await redis.info()
        asked_at = time.time()
        seconds, microseconds = await redis.time()
        ahead = seconds_ahead(seconds + microseconds / 1e6, asked_at, time.time())
    finally:
        await redis.aclose()
    return [
        Finding("Redis", True, f"answers, version {info['redis_version']}"),
        _memory(info),
        of_clock("that of Redis", ahead),
    ]


def _memory(info: Mapping[str, Any]) -> Finding:
    used, most, policy = int(info["used_memory"]), int(info.get("maxmemory", 0)), info.get("maxmemory_policy", "")
    found = f"{used / 1e6:,.0f} MB, " + (f"of {most / 1e6:,.0f} MB at most" if most else "without a bound")
    if policy and policy != _KEEPS_ALL:
        return Finding("memory of Redis", not most, f"{found}; when full it follows {policy}", _KEEP_ALL)
    if most and used > most * _NEARLY_FULL:
        advice = "Raise `maxmemory`, or give Redis a server of its own: when full it refuses what is written."
        return Finding("memory of Redis", False, found, advice)
    return Finding("memory of Redis", True, found)
