"""Work beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_LARGE_AT_ONCE = 2


class Apart:
    """Runs pure work in one thread, so that the event loop goes on meanwhile.

    One thread: Python runs one at a time, so more would only compete with the event loop for their turn. Give it
    pieces of a few milliseconds, for they wait for each other. Whoever reads much before it gives work here waits for
    `large` first: what is read then lies in memory for few at a time, and is little to collect.
    """

    def __init__(self) -> None:
        self.large = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="apart")

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """End the thread after the work that it is at."""
        self._thread.shutdown(wait=False, cancel_futures=True)
