"""Who may run the next job over a stranger's bytes: fair by account, because such a job cannot be interrupted.

Each of the ordinary slots goes to the account that has the fewest jobs running, in turn; whoever has just been served
goes to the end of the line. One more slot is only for an account that has none running. So one account alone keeps
every core busy, and another's page still begins at once, or, where several accounts fill all slots, when the next job
ends. Large pages are read one at a time, by the same rule, because several at once could take more memory than the
service may.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from intel.errors import IsolationFailed

# The reason of a large page that got no slot.
BUSY: Final = "busy"
# Longer than the large page before may take.
_WAIT_SECONDS: Final = 40.0


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    account_id: str
    is_large: bool
    may_begin: asyncio.Event = field(default_factory=asyncio.Event)


class ReadingSlots:
    """The slots of one process: `at_once` for everybody, and one for an account that has none."""

    def __init__(self, at_once: int, wait_seconds: float = _WAIT_SECONDS) -> None:
        self._at_once = at_once
        self._wait_seconds = wait_seconds
        # Each account's jobs, oldest first; the accounts in order of turns.
        self._waiting: dict[str, list[_Job]] = {}
        self._running: list[_Job] = []

    @asynccontextmanager
    async def taken(self, account_id: str, *, is_large: bool = False) -> AsyncIterator[None]:
        """Wait for a slot and hold it. Raises IsolationFailed (`busy`) where a large page waits for too long."""
        job = _Job(account_id, is_large)
        self._waiting.setdefault(account_id, []).append(job)
        self._begin()
        try:
            await self._turn_of(job)
            yield
        finally:
            self._end(job)

    async def _turn_of(self, job: _Job) -> None:
        try:
            async with asyncio.timeout(self._wait_seconds if job.is_large else None):
                await job.may_begin.wait()
        except TimeoutError:
            detail = "Too many large pages are being read at this moment."
            raise IsolationFailed(BUSY, detail, retryable=True) from None

    def _begin(self) -> None:
        while job := self._next():
            self._waiting[job.account_id].remove(job)
            self._go_to_the_end(job.account_id)
            self._running.append(job)
            job.may_begin.set()

    def _next(self) -> _Job | None:
        running = Counter(job.account_id for job in self._running)
        large_must_wait = any(job.is_large for job in self._running)
        for account_id in sorted(self._waiting, key=running.__getitem__):
            if len(self._running) >= self._at_once + (running[account_id] == 0):
                return None
            for job in self._waiting[account_id]:
                if not (job.is_large and large_must_wait):
                    return job
        return None

    def _end(self, job: _Job) -> None:
        if job in self._running:
            self._running.remove(job)
        else:
            self._waiting[job.account_id].remove(job)
        self._go_to_the_end(job.account_id)
        self._begin()

    def _go_to_the_end(self, account_id: str) -> None:
        if waiting := self._waiting.pop(account_id, None):
            self._waiting[account_id] = waiting
