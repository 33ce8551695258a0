"""Buckets in Redis, shared by every server that uses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoScriptError, RedisError

from api.limits.bucket import TOLERANCE_TOKENS, Decision, Rate, decision
from api.limits.port import LimiterUnavailable
from intel.gathering import Gathering
from intel.redis_client import connection_pool

_PREFIX = "ioc:limit:"
_MAX_CONNECTIONS = 64
_TIMEOUT_SECONDS = 1.0
_BUCKETS_AT_ONCE = 100
# One that was idle for longer may be closed by whoever stands between: the pool looks.
_KEPT_SECONDS = 1.0

_Question = tuple[str, Rate, int]


class RedisLimiter:
    """`Limiter` on one Redis: a script decides and writes in one step, on Redis's clock; one call of it answers all who
    ask at the same time.

    `url` is as `connection_pool` reads it. Every question is answered or given up within a second, and asked
    once: one that was lost on its way may have been charged already.
    """

    def __init__(self, url: str) -> None:
        self._pool = connection_pool(
            url,
            BlockingConnectionPool,
            max_connections=_MAX_CONNECTIONS,
            timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            # Every question is bounded as a whole; a time for each read and write of it would be a task for each.
            socket_timeout=None,
        )
        self._redis = Redis.from_pool(self._pool)
        self._kept: AbstractConnection | None = None
        self._kept_since = 0.0
        self._script = self._redis.register_script(files(__package__).joinpath("bucket.lua").read_bytes())
        self._gathered = Gathering(self._ask_together, _BUCKETS_AT_ONCE)

    async def take(self, key: str, rate: Rate) -> Decision:
        return await self._ask(key, rate, cost=1)

    async def peek(self, key: str, rate: Rate) -> Decision:
        return await self._ask(key, rate, cost=0)

    async def give_back(self, key: str, rate: Rate) -> None:
        await self._ask(key, rate, cost=-1)

    async def answers(self) -> bool:
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                await self._redis.ping()
        except (RedisError, OSError):
            return False
        return True

    async def close(self) -> None:
        kept, self._kept = self._kept, None
        await self._release(kept)
        await self._redis.aclose()

    async def _ask(self, key: str, rate: Rate, cost: int) -> Decision:
        allowed, tokens = await self._gathered((key, rate, cost))
        if allowed < 0:
            raise LimiterUnavailable("something else stands in Redis under the name of a bucket")
        return decision(allowed == 1, float(tokens), rate)

    async def _ask_together(self, questions: Sequence[_Question]) -> list[tuple[int, bytes]]:
        """Return for each bucket whether the request passes, and the tokens left."""
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                told = await self._evaluate(questions)
        except (RedisError, OSError) as error:
            raise LimiterUnavailable(f"{type(error).__name__}: {error}") from error
        return list(zip(told[::2], told[1::2], strict=True))

    async def _evaluate(self, questions: Sequence[_Question]) -> Sequence[Any]:
        """Run the script, over the connection that did a moment ago: what a pool and a client do beside costs as much
        as the question.
        """
        connection, self._kept = self._kept, None
        if connection is None or time.monotonic() - self._kept_since > _KEPT_SECONDS:
            await self._release(connection)
            connection = await self._pool.get_connection()
        try:
            await connection.send_packed_command(_packed(self._script.sha, questions))
            told: Sequence[Any] = await connection.read_response()
        except NoScriptError:
            await self._release(connection)
            told = await self._script(keys=_keys(questions), args=_numbers(questions))
        except BaseException:
            # What is still under way must not be taken for the answer to the next question.
            await connection.disconnect(nowait=True)
            await self._release(connection)
            raise
        else:
            await self._release(self._kept)
            self._kept, self._kept_since = connection, time.monotonic()
        return told

    async def _release(self, connection: AbstractConnection | None) -> None:
        if connection is not None:
            await self._pool.release(connection)


def _keys(questions: Sequence[_Question]) -> list[str]:
    return [_PREFIX + key for key, _, _ in questions]


def _numbers(questions: Sequence[_Question]) -> list[float]:
    return [TOLERANCE_TOKENS, *(number for _, rate, cost in questions for number in _asked(rate, cost))]


def _asked(rate: Rate, cost: int) -> tuple[int, int, int]:
    return rate.capacity, rate.seconds * 1_000_000, cost


def _packed(script: str, questions: Sequence[_Question]) -> bytes:
    """Return the call of the script as Redis reads it; the client would encode the same numbers anew each time."""
    count = len(questions)
    parts = [b"*%d\r\n" % (4 + 4 * count), _part("EVALSHA"), _part(script), _part(str(count))]
    parts += [_part(key) for key in _keys(questions)]
    parts.append(_part(repr(TOLERANCE_TOKENS)))
    parts += [_packed_numbers(rate, cost) for _, rate, cost in questions]
    return b"".join(parts)


@lru_cache(maxsize=64)
def _packed_numbers(rate: Rate, cost: int) -> bytes:
    return b"".join(_part(str(number)) for number in _asked(rate, cost))


def _part(text: str) -> bytes:
    encoded = text.encode()
    return b"$%d\r\n%b\r\n" % (len(encoded), encoded)
