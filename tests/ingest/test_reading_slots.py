"""Who may read next: nobody keeps another account's page waiting for more than the job that runs."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from ingest.reading_slots import ReadingSlots
from intel.errors import IsolationFailed


class Jobs:
    """Jobs that hold their slot until they are ended; `begun` are their names in the order in which they got one."""

    def __init__(self, slots: ReadingSlots) -> None:
        self.begun: list[str] = []
        self._slots = slots
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def ask(self, name: str, account_id: str, *, is_large: bool = False) -> None:
        self._ends[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._run(name, account_id, is_large))
        await _settled()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await _settled()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.gather(self._tasks[name], return_exceptions=True)
        await _settled()

    async def _run(self, name: str, account_id: str, is_large: bool) -> None:
        async with self._slots.taken(account_id, is_large=is_large):
            self.begun.append(name)
            await self._ends[name].wait()


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_one_account_alone_keeps_every_ordinary_slot() -> None:
    jobs = Jobs(ReadingSlots(2))
    for name in ("a1", "a2", "a3"):
        await jobs.ask(name, "a")
    assert jobs.begun == ["a1", "a2"]
    await jobs.end("a2")
    assert jobs.begun == ["a1", "a2", "a3"]


@pytest.mark.promise("fairness.another-account-within-60-seconds")
async def test_under_the_load_of_one_account_each_job_of_another_begins_at_once() -> None:
    jobs = Jobs(ReadingSlots(2))
    for n in range(8):
        await jobs.ask(f"a{n}", "a")
    for name in ("b1", "b2", "b3"):
        await jobs.ask(name, "b")
        assert jobs.begun == ["a0", "a1", *(f"b{n}" for n in range(1, int(name[1]) + 1))]
        await jobs.end(name)


async def test_what_becomes_free_goes_to_the_account_with_the_fewest_in_turn() -> None:
    jobs = Jobs(ReadingSlots(2))
    for name in ("a1", "a2", "a3", "b1", "b2", "c1", "c2"):
        await jobs.ask(name, name[0])
    assert jobs.begun == ["a1", "a2", "b1"]
    await jobs.end("a1")
    assert jobs.begun[3:] == ["c1"]
    await jobs.end("b1")
    assert jobs.begun[4:] == ["b2"]
    await jobs.end("a2")
    assert jobs.begun[5:] == ["a3"]


async def test_large_jobs_run_one_at_a_time_and_another_accounts_goes_next() -> None:
    jobs = Jobs(ReadingSlots(2))
    for name in ("a1", "a2", "a3"):
        await jobs.ask(name, "a", is_large=True)
    await jobs.ask("b1", "b", is_large=True)
    assert jobs.begun == ["a1"]
    await jobs.ask("a4", "a")
    assert jobs.begun == ["a1", "a4"]
    await jobs.end("a1")
    assert jobs.begun == ["a1", "a4", "b1"]
    await jobs.end("b1")
    assert jobs.begun == ["a1", "a4", "b1", "a2"]


async def test_a_large_job_that_waits_too_long_comes_again_later() -> None:
    slots = ReadingSlots(2, wait_seconds=0.05)
    async with slots.taken("a", is_large=True):
        with pytest.raises(IsolationFailed) as failed:
            async with slots.taken("b", is_large=True):
                raise AssertionError("unreachable")
    assert (failed.value.reason, failed.value.retryable) == ("busy", True)
    async with slots.taken("b", is_large=True):
        pass


async def test_a_job_that_fails_or_is_given_up_holds_up_nobody() -> None:
    slots = ReadingSlots(1)
    jobs = Jobs(slots)
    for name in ("a1", "a2", "a3"):
        await jobs.ask(name, "a")
    await jobs.cancel("a2")
    await jobs.cancel("a1")
    assert jobs.begun == ["a1", "a3"]
    await jobs.end("a3")
    for _ in range(3):
        with pytest.raises(IsolationFailed):
            async with slots.taken("a"):
                raise IsolationFailed("parse_memory", "Too much.")
    async with AsyncExitStack() as held:
        for account_id in ("a", "b"):
            await held.enter_async_context(slots.taken(account_id))
