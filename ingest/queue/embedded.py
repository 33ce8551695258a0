"""The queue inside one process: asyncio tasks."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

import structlog

from ingest.queue.hosts import MOST_OF_A_HOST, host_of
from ingest.queue.port import ReadSubmission
from intel.records import Submission

log = structlog.get_logger()


class EmbeddedQueue:
    """Reads submissions in this process, at most `concurrency` at once, and `of_a_host`. Kept as `Queue` asks."""

    def __init__(self, read: ReadSubmission, concurrency: int = 10, of_a_host: int = MOST_OF_A_HOST) -> None:
        self._read = read
        self._slots = asyncio.Semaphore(concurrency)
        self._of_a_host = of_a_host
        self._hosts: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._running: dict[str, asyncio.Task[None]] = {}

    async def enqueue(self, submission: Submission) -> None:
        if submission.id in self._running:
            return
        host = host_of(submission.url)
        slots = self._hosts.setdefault(host, asyncio.Semaphore(self._of_a_host))
        task = asyncio.create_task(self._run(submission.id, slots))
        self._running[submission.id] = task
        task.add_done_callback(lambda _: self._running.pop(submission.id, None))

    async def close(self) -> None:
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, submission_id: str, of_its_host: asyncio.Semaphore) -> None:
        async with of_its_host, self._slots:
            try:
                await self._read(submission_id)
            except Exception:
                log.exception("reading a submission failed", submission=submission_id)
