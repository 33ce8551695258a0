"""The turns of all workers together, kept in Redis by one script."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ingest.queue.turns import MOST_OF_A_HOST, SLOTS, Turn

_PREFIX: Final = "ioc:turns:"
# A killed worker's slots are free half a minute later.
_LEASE_MILLISECONDS: Final = 30_000
_RENEW_SECONDS: Final = 10.0
_SCRIPT: Final = files(__package__).joinpath("turns.lua").read_text("utf-8")


class RedisTurns:
    """Turns as `Turns` gives them, over the slots of every worker that is alive. Raises RedisError or OSError."""

    def __init__(self, redis: Redis, slots: int = SLOTS, of_a_host: int = MOST_OF_A_HOST) -> None:
        self._script = redis.register_script(_SCRIPT)
        self._worker = secrets.token_hex(8)
        self._slots = slots
        self._of_a_host = of_a_host

    async def wait(self, turns: Sequence[Turn]) -> int:
        """Let submissions wait for their turns, but for those that wait or are being read; return how many are read."""
        return int(await self._script(keys=[_PREFIX], args=["wait", *(part for turn in turns for part in turn)]))

    async def take(self) -> Turn | None:
        """Take the next turn; None where nobody who waits may be read now."""
        who = (self._worker, _LEASE_MILLISECONDS, self._slots, self._of_a_host)
        taken: list[bytes] | None = await self._script(keys=[_PREFIX], args=["take", *who])
        return Turn(*(part.decode() for part in taken)) if taken else None

    @asynccontextmanager
    async def held(self, turn: Turn) -> AsyncIterator[None]:
        """Hold a turn that was taken, and give its slot back in the end."""
        renewing = asyncio.create_task(self._renew(turn))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            with contextlib.suppress(RedisError, OSError):
                await self._script(keys=[_PREFIX], args=["end", turn.submission_id, turn.account_id])

    async def _renew(self, turn: Turn) -> None:
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            with contextlib.suppress(RedisError, OSError):
                await self._script(keys=[_PREFIX], args=["keep", self._worker, _LEASE_MILLISECONDS, *turn])
