"""What the suite needs of each queue: the port, and something that reads what is enqueued until it is stopped."""

from __future__ import annotations

import asyncio
from typing import Protocol

from redis.asyncio import Redis

from ingest.queue.embedded import EmbeddedQueue
from ingest.queue.port import Queue, ReadSubmission
from ingest.queue.redis import ArqQueue, run_worker
from ingest.queue.redis_turns import RedisTurns

_PATIENCE_SECONDS = 60.0


class World(Protocol):
    """A queue and the worker behind it."""

    @property
    def queue(self) -> Queue: ...

    async def is_at_rest(self) -> bool:
        """Tells whether nothing is being read, and whatever was read has given back its turn."""

    async def stop(self) -> None:
        """Ends the worker as SIGTERM does, and the queue; may be called again."""


class EmbeddedWorld:
    def __init__(self, read: ReadSubmission) -> None:
        self.queue = EmbeddedQueue(read)

    async def is_at_rest(self) -> bool:
        return not self.queue._reading

    async def stop(self) -> None:
        await self.queue.close()


class RedisWorld:
    def __init__(self, address: str, read: ReadSubmission) -> None:
        self.queue = ArqQueue(address)
        self._stopping = asyncio.Event()
        self.worker = asyncio.create_task(run_worker(address, read, self._stopping))
        self._address = address

    async def is_at_rest(self) -> bool:
        async with Redis.from_url(self._address) as redis:
            return await RedisTurns(redis).wait([]) == 0

    async def stop(self) -> None:
        self._stopping.set()
        await asyncio.wait_for(self.worker, _PATIENCE_SECONDS)
        await self.queue.close()
