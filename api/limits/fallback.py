"""What happens to limits when Redis is out of reach: requests pass, counted by each process for itself."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from api.limits.bucket import Decision, Rate
from api.limits.port import Limiter, LimiterUnavailable

T = TypeVar("T")

_RETRY_SECONDS = 1.0


class FallbackLimiter:
    """`Limiter` that asks `shared` and, while that is out of reach, `local`.

    During an outage one request a second tries `shared` again, all others are decided locally at once. An
    outage is one warning in the log, its end one line more; `on_fallback` is called for every request decided locally.
    """

    def __init__(
        self,
        shared: Limiter,
        local: Limiter,
        *,
        on_fallback: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared = shared
        self._local = local
        self._on_fallback = on_fallback
        self._clock = clock
        self._retry_at: float | None = None
        self._log = structlog.get_logger(__name__)

    async def take(self, key: str, rate: Rate) -> Decision:
        return await self._decide(lambda limiter: limiter.take(key, rate))

    async def peek(self, key: str, rate: Rate) -> Decision:
        return await self._decide(lambda limiter: limiter.peek(key, rate))

    async def give_back(self, key: str, rate: Rate) -> None:
        await self._decide(lambda limiter: limiter.give_back(key, rate))

    async def answers(self) -> bool:
        return await self._shared.answers()

    async def close(self) -> None:
        await self._shared.close()
        await self._local.close()

    async def _decide(self, ask: Callable[[Limiter], Awaitable[T]]) -> T:
        probing = self._retry_at is not None
        if self._may_try_shared():
            try:
                answer = await ask(self._shared)
            except LimiterUnavailable as error:
                self._lost(error)
            else:
                if probing:
                    self._found()
                return answer
        self._on_fallback()
        return await ask(self._local)

    def _may_try_shared(self) -> bool:
        """Say whether to try Redis; during an outage one request in a while does."""
        if self._retry_at is None:
            return True
        now = self._clock()
        if now < self._retry_at:
            return False
        self._retry_at = now + _RETRY_SECONDS
        return True

    def _lost(self, error: LimiterUnavailable) -> None:
        if self._retry_at is None:
            self._log.warning("redis is out of reach: requests pass, limited per process", error=str(error))
        self._retry_at = self._clock() + _RETRY_SECONDS

    def _found(self) -> None:
        self._retry_at = None
        self._log.info("redis answers again: limits are shared")
