"""Readers that tests hand to a queue, and the submissions that they read."""

from __future__ import annotations

import asyncio
from collections import Counter

from intel.records import Submission
from intel.store import Store
from tests.api.pages import eventually
from tests.api.running import Clock


class Reader:
    """Notes what it is given; holds on to it while `gate` is closed."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.cancelled: Counter[str] = Counter()
        self.gate = asyncio.Event()
        self.gate.set()

    async def read(self, submission_id: str) -> None:
        self.begun[submission_id] += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled[submission_id] += 1
            raise
        if submission_id.endswith("broken"):
            raise RuntimeError("this one cannot be read")
        self.ended[submission_id] += 1

    async def has_begun(self, *ids: str) -> None:
        await eventually(lambda: _all(self.begun, ids))

    async def has_ended(self, *ids: str) -> None:
        await eventually(lambda: _all(self.ended, ids))


async def _all(counted: Counter[str], ids: tuple[str, ...]) -> bool:
    return all(counted[id] for id in ids)


def submission(clock: Clock, name: str = "one", account: str = "account-1", host: str = "news.example") -> Submission:
    """A queued submission that is due now."""
    url = f"https://{host}/{name}"
    return Submission(f"submission-{name}", account, url, "News", "queued", created_at=clock.now, due_at=clock.now)


async def ended(store: Store, id: str) -> Submission:
    """The stored submission, once it is done or failed."""

    async def look() -> Submission | None:
        found = await store.submissions.get(id)
        return found if found is not None and found.ended else None

    return await eventually(look)
