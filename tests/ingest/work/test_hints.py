"""One of several processes reads; the others tell it what is due."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ingest.queue.embedded import EmbeddedQueue
from ingest.queue.hints import HintingQueue, Hints
from intel.store import Store
from tests.contract.store.builders import make_submission


@pytest.mark.promise("promises.accepted-never-lost")
async def test_what_is_enqueued_elsewhere_is_read_here_but_what_nobody_stored_is_not(store: Store) -> None:
    read = list[str]()
    both_read = asyncio.Event()

    async def note(submission_id: str) -> None:
        read.append(submission_id)
        if len(read) == 2:
            both_read.set()

    hints, here = Hints.open(), EmbeddedQueue(note)
    stored = [await store.submissions.add(make_submission(name)) for name in ("one", "two")]
    passing_on = asyncio.create_task(hints.pass_on(store, here))
    try:
        await HintingQueue(hints).enqueue(replace(stored[0], id="unknown"), *stored)
        await asyncio.wait_for(both_read.wait(), 60)
        assert sorted(read) == sorted(one.id for one in stored)
    finally:
        passing_on.cancel()
        await asyncio.gather(passing_on, return_exceptions=True)
        await here.close()
        hints.close()


async def test_hints_that_nobody_takes_in_are_dropped_without_an_error() -> None:
    hints = Hints.open()
    await HintingQueue(hints).enqueue(*[make_submission(str(number)) for number in range(2_000)])
    hints.close()
