"""One read for all who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedRead(Generic[T]):
    """Read once for all who ask while a read is under way.

    Whoever asks gets a read that began after it asked, so that nobody is told what was before: no answer is kept.
    """

    def __init__(self, read: Callable[[], Awaitable[T]]) -> None:
        self._read = read
        self._running: asyncio.Task[T] | None = None
        self._waiting: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        """Return what the read returns, or raise what it raises."""
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._after(self._running))
        # One who stops waiting does not end the read of the others.
        return await asyncio.shield(self._waiting)

    async def _after(self, former: asyncio.Task[T] | None) -> T:
        if former is not None and not former.done():
            await asyncio.wait([former])
        self._running, self._waiting = self._waiting, None
        return await self._read()
