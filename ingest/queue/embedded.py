"""The queue inside one process: asyncio tasks."""

from __future__ import annotations

import asyncio

import structlog

from ingest.queue.port import ReadSubmission
from intel.records import Submission

log = structlog.get_logger()


class EmbeddedQueue:
    """Reads submissions in this process, at most `concurrency` at once. Kept as `Queue` asks."""

    def __init__(self, read: ReadSubmission, concurrency: int = 6) -> None:
        self._read = read
        self._slots = asyncio.Semaphore(concurrency)
        self._running: dict[str, asyncio.Task[None]] = {}

    async def enqueue(self, submission: Submission) -> None:
        if submission.id in self._running:
            return
        task = asyncio.create_task(self._run(submission.id))
        self._running[submission.id] = task
        task.add_done_callback(lambda _: self._running.pop(submission.id, None))

    async def close(self) -> None:
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, submission_id: str) -> None:
        async with self._slots:
            try:
                await self._read(submission_id)
            except Exception:
                log.exception("reading a submission failed", submission=submission_id)
