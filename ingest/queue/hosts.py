"""At most so many pages of one host are read at once: the rule, and its keeping among several workers."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.exceptions import RedisError

MOST_OF_A_HOST: Final = 6

_PREFIX: Final = "ioc:host:"
_LEASE_MILLISECONDS: Final = 30_000
_RENEW_SECONDS: Final = 10.0
_TAKE: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""


def host_of(url: str) -> str:
    """Host and port of an address."""
    return urlsplit(url).netloc


@asynccontextmanager
async def slot_of_host(redis: Redis, host: str, most: int = MOST_OF_A_HOST) -> AsyncIterator[bool]:
    """Whether one of the host's slots was free: it is held meanwhile. A killed worker's are free half a minute later.

    Where Redis is out of reach every host has slots enough.
    """
    holder = secrets.token_hex(8)
    taken = await _take(redis, host, holder, most)
    renewing = asyncio.create_task(_renew(redis, host, holder, most)) if taken else None
    try:
        yield taken
    finally:
        if renewing is not None:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            with contextlib.suppress(RedisError, OSError):
                await redis.zrem(_PREFIX + host, holder)


async def _take(redis: Redis, host: str, holder: str, most: int) -> bool:
    try:
        take = redis.register_script(_TAKE)
        return bool(await take(keys=[_PREFIX + host], args=[holder, most, _LEASE_MILLISECONDS]))
    except (RedisError, OSError):
        return True


async def _renew(redis: Redis, host: str, holder: str, most: int) -> None:
    while True:
        await asyncio.sleep(_RENEW_SECONDS)
        await _take(redis, host, holder, most)
