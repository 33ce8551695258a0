"""The queue as the rest of the service sees it: one port, kept by asyncio (embedded) and arq on Redis (served)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from intel.records import Submission

# Reads the submission with that id, if it is due; never raises for anything that the article did.
ReadSubmission = Callable[[str], Awaitable[None]]


class Queue(Protocol):
    """Tells a worker that a submission is due.

    - The submission is stored before it is enqueued; the store is the truth. A hint may be lost (a restarted Redis) or
      come twice: `sweep` enqueues again whatever is due, and claiming a submission happens once.
    - Turns are fair by account and by host, over all workers together (see `turns`): of one host (and port) at most six
      submissions are read at once, and no account holds more than it leaves to others. Whoever has read gives its turn
      back before it is done, where it waits for nothing but to be saved (`giving_back`).
    - Enqueuing a submission again while it waits or is being read changes nothing.
    - Never raises: a queue that is out of reach is logged, and the sweep makes up for it.
    """

    async def enqueue(self, *submissions: Submission) -> None:
        """Hint that these submissions are due."""

    async def close(self) -> None:
        """Give back connections, and hand back what is being read."""
