"""Sweeping: what is due and nobody reads is enqueued again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from ingest.work import SubmissionWork, upkeep
from intel.errors import FetchFailed
from intel.records import Submission
from intel.store import Store
from tests.api.pages import eventually
from tests.api.running import Clock
from tests.contract.store.builders import make_article
from tests.ingest.work.working import URL, Web, state, submitted


class Hints:
    """A queue that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def enqueue(self, *submissions: Submission) -> None:
        self.told.extend(submission.id for submission in submissions)

    async def close(self) -> None:
        return


@contextlib.asynccontextmanager
async def kept_up(store: Store, clock: Clock, queue: Hints) -> AsyncIterator[None]:
    task = asyncio.create_task(upkeep(store, queue, clock))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


HOUR = 3600


@pytest.mark.promise("promises.accepted-never-lost")
@pytest.mark.parametrize("when", ["submitted", "claimed", "claimed again", "put off"])
async def test_what_was_written_while_the_clock_was_ahead_is_not_waited_for(
    store: Store, clock: Clock, when: str
) -> None:
    if when == "claimed again":
        await submitted(store, clock)
        assert await store.submissions.claim("submission-1", clock.now, clock.now)
    clock.forward(HOUR)
    if when != "claimed again":
        await submitted(store, clock)
    if when.startswith("claimed"):
        assert await store.submissions.claim("submission-1", clock.now, clock.now + timedelta(seconds=30))
    if when == "put off":
        await SubmissionWork(store, Web(FetchFailed("timeout", "Slow.", retryable=True)).read, clock).read(
            "submission-1"
        )
    clock.forward(-HOUR)
    hints = Hints()
    async with kept_up(store, clock, hints):
        await eventually(lambda: told(hints))
    await SubmissionWork(store, Web(make_article()).read, clock).read("submission-1")
    done = await state(store)
    assert done.status == "done"
    assert done.first_attempt_at is not None and done.first_attempt_at <= clock.now


async def told(hints: Hints) -> bool:
    return bool(hints.told)


@pytest.mark.promise("submit.retry-after")
async def test_what_waits_for_good_reason_is_left_waiting(store: Store, clock: Clock) -> None:
    busy = FetchFailed("http_429", "Later.", retryable=True, retry_after_seconds=3000)
    await submitted(store, clock)
    await SubmissionWork(store, Web(busy).read, clock).read("submission-1")
    later = Submission(
        "submission-2", "account-1", URL, "News", "queued", created_at=clock.now, due_at=clock.now + timedelta(hours=1)
    )
    await store.submissions.add(later)
    waiting, hints = await state(store), Hints()
    due = Submission("submission-3", "account-1", URL, "News", "queued", created_at=clock.now, due_at=clock.now)
    await store.submissions.add(due)
    async with kept_up(store, clock, hints):
        await eventually(lambda: told(hints))
    assert set(hints.told) == {"submission-3"}
    assert await state(store) == waiting
    assert await store.submissions.get("submission-2") == later


class Unreadable(Hints):
    """A queue that breaks once, as nothing should."""

    async def enqueue(self, *submissions: Submission) -> None:
        await super().enqueue(*submissions)
        if len(self.told) == 1:
            raise RuntimeError("unforeseen")


@pytest.mark.slow
@pytest.mark.promise("promises.accepted-never-lost")
async def test_sweeping_goes_on_after_a_fault_of_ours(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    hints = Unreadable()
    async with kept_up(store, clock, hints):
        await eventually(lambda: told_again(hints))


async def told_again(hints: Hints) -> bool:
    return len(hints.told) > 1
