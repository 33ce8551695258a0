"""The queue inside one process: asyncio tasks."""

from __future__ import annotations

import asyncio

import structlog

from ingest.queue.giving_back import turn_given_back_by
from ingest.queue.port import ReadSubmission
from ingest.queue.turns import Turn, Turns, turn_of
from intel.records import Submission

log = structlog.get_logger()


class EmbeddedQueue:
    """Reads submissions in this process, each in its turn. Kept as `Queue` asks."""

    def __init__(self, read: ReadSubmission) -> None:
        self._read = read
        self._turns = Turns()
        self._reading: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def enqueue(self, *submissions: Submission) -> None:
        for submission in submissions:
            self._turns.wait(turn_of(submission))
        self._begin()

    async def close(self) -> None:
        self._is_closed = True
        reading = list(self._reading)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)

    def _begin(self) -> None:
        while not self._is_closed and (turn := self._turns.take()):
            task = asyncio.create_task(self._read_one(turn))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _read_one(self, turn: Turn) -> None:
        held = [turn]

        def give_back() -> None:
            if held:
                self._turns.end(held.pop())
                self._begin()

        try:
            with turn_given_back_by(give_back):
                await self._read(turn.submission_id)
        except Exception:
            log.exception("reading a submission failed", submission=turn.submission_id)
        finally:
            give_back()
