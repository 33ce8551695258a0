"""The queue of several embedded processes: one of them reads, the others tell it what is due."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass
from typing import Final

from ingest.queue.port import Queue
from intel.errors import StoreUnavailable
from intel.records import Submission
from intel.store import Store

_LONGEST_HINT: Final = 512


@dataclass(frozen=True, slots=True)
class Hints:
    """A way for hints from any process to the one that reads; made before they are forked.

    A hint that finds it full is dropped, for the sweep of the process that reads makes up for it.
    """

    sending: socket.socket
    receiving: socket.socket

    @classmethod
    def open(cls) -> Hints:
        sending, receiving = socket.socketpair(type=socket.SOCK_DGRAM)
        for end in (sending, receiving):
            end.setblocking(False)
        return cls(sending, receiving)

    def close(self) -> None:
        self.sending.close()
        self.receiving.close()

    async def pass_on(self, store: Store, queue: Queue) -> None:
        """Enqueue what others hint at, until cancelled."""
        while True:
            hint = await asyncio.get_running_loop().sock_recv(self.receiving, _LONGEST_HINT)
            with contextlib.suppress(StoreUnavailable):
                submission = await store.submissions.get(hint.decode("ascii", "replace"))
                if submission is not None:
                    await queue.enqueue(submission)


class HintingQueue:
    """Leaves reading to another process. Kept as `Queue` asks."""

    def __init__(self, hints: Hints) -> None:
        self._hints = hints

    async def enqueue(self, *submissions: Submission) -> None:
        for submission in submissions:
            with contextlib.suppress(BlockingIOError):
                self._hints.sending.send(submission.id.encode("ascii"))

    async def close(self) -> None:
        """Do nothing: the way lasts as long as any process has it."""
