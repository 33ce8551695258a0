"""What every queue does with a hint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from ingest.queue.giving_back import give_back_turn
from ingest.queue.port import Queue
from ingest.work import SubmissionWork, sweep
from intel.records import Article, Submission
from intel.store import Store
from tests.api.pages import eventually
from tests.api.running import Clock
from tests.contract.queue.conftest import Begin
from tests.contract.queue.reading import Reader, ended, submission
from tests.contract.queue.worlds import RedisWorld, World
from tests.contract.store.builders import make_article


@asynccontextmanager
async def sweeping(store: Store, queue: Queue, clock: Clock) -> AsyncIterator[None]:
    task = asyncio.create_task(sweep(store, queue, clock))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def take(_: Submission) -> Article:
    return make_article()


async def test_what_is_enqueued_is_read_once(begin: Begin) -> None:
    reader, clock = Reader(), Clock()
    world = begin(reader.read)
    await world.queue.enqueue(submission(clock))
    await reader.has_ended("submission-one")
    assert reader.begun == {"submission-one": 1}


async def test_enqueuing_again_while_it_is_read_changes_nothing(begin: Begin) -> None:
    reader, clock = Reader(), Clock()
    reader.gate.clear()
    world = begin(reader.read)
    await world.queue.enqueue(submission(clock))
    await reader.has_begun("submission-one")
    for _ in range(3):
        await world.queue.enqueue(submission(clock))
    await world.queue.enqueue(submission(clock, "two"))
    await reader.has_begun("submission-two")
    assert reader.begun["submission-one"] == 1
    reader.gate.set()
    await reader.has_ended("submission-one", "submission-two")


async def test_a_later_attempt_of_the_same_submission_is_read_again(begin: Begin) -> None:
    reader, clock = Reader(), Clock()
    world = begin(reader.read)
    await world.queue.enqueue(submission(clock))
    await eventually(lambda: _has_read(world, reader, 1))
    await world.queue.enqueue(replace(submission(clock), attempts=1))
    await eventually(lambda: _has_read(world, reader, 2))
    # One that failed and is submitted anew begins at no attempts again.
    await world.queue.enqueue(submission(clock))
    await eventually(lambda: _has_read(world, reader, 3))


async def _has_read(world: World, reader: Reader, times: int) -> bool:
    """What is enqueued before the turn of an attempt has ended changes nothing."""
    return reader.ended["submission-one"] == times and await world.is_at_rest()


async def test_many_are_read_each_once_and_a_broken_one_harms_no_other(begin: Begin) -> None:
    reader, clock = Reader(), Clock()
    world = begin(reader.read)
    names = [f"n{n}" for n in range(30)]
    for name in ["broken", *names]:
        await world.queue.enqueue(submission(clock, name))
    await reader.has_ended(*(f"submission-{name}" for name in names))
    assert set(reader.begun.values()) == {1}


@pytest.mark.slow
@pytest.mark.promise("queue.six-of-a-host")
async def test_of_one_host_six_are_read_at_once_and_others_go_first(begin: Begin) -> None:
    reader, clock = Reader(), Clock()
    reader.gate.clear()
    world = begin(reader.read)
    if isinstance(world, RedisWorld):
        begin(reader.read)
    names = [f"n{n}" for n in range(20)]
    for n, name in enumerate(names):
        await world.queue.enqueue(submission(clock, name, account=f"account-{n}"))
    await world.queue.enqueue(submission(clock, "other", host="other.example"))
    await reader.has_begun("submission-other")
    await eventually(lambda: _begun(reader, 7))
    with pytest.raises(AssertionError):
        await eventually(lambda: _begun(reader, 8), seconds=2)
    reader.gate.set()
    await reader.has_ended(*(f"submission-{name}" for name in names))
    assert set(reader.begun.values()) == {1}


@pytest.mark.promise("fairness.another-account-within-60-seconds")
@pytest.mark.parametrize("many_hosts", [False, True], ids=["of one host", "of many hosts"])
async def test_a_thousand_endless_pages_of_one_account_leave_room_for_anothers(begin: Begin, many_hosts: bool) -> None:
    reader, clock = Reader(), Clock()
    reader.gate.clear()
    world = begin(reader.read)
    if isinstance(world, RedisWorld):
        begin(reader.read)
    many = [submission(clock, f"n{n}", host=f"h{n * many_hosts}.example") for n in range(1_000)]
    expected = 3 if not many_hosts else 16 if isinstance(world, RedisWorld) else 8

    async def as_many_as_one_may() -> bool:
        """As the sweep does, tell the queue again: a second worker may have started late."""
        await world.queue.enqueue(*many)
        return await _begun(reader, expected)

    await eventually(as_many_as_one_may)
    for account in ("account-2", "account-3"):
        await world.queue.enqueue(*many)
        await world.queue.enqueue(submission(clock, account, account=account, host="h0.example"))
        await reader.has_begun(f"submission-{account}")
    assert reader.begun.total() == expected + 2
    reader.gate.set()


@pytest.mark.promise("fairness.another-account-within-60-seconds")
async def test_the_next_free_slot_goes_to_whoever_has_none(begin: Begin) -> None:
    """Sixteen accounts hold every slot, each with more to come: a newcomer waits for a slot, not for all of them."""
    gates, order, clock = dict[str, asyncio.Event](), list[str](), Clock()

    async def read(submission_id: str) -> None:
        order.append(submission_id)
        await gates.setdefault(submission_id, asyncio.Event()).wait()

    async def begun(number: int) -> bool:
        return len(order) >= number

    world = begin(read)
    everybody = [submission(clock, f"{page}-{n}", f"account-{n}", f"h{n}.example") for page in "ab" for n in range(16)]
    for each in everybody:
        await world.queue.enqueue(each)
    await eventually(lambda: begun(16))
    await world.queue.enqueue(submission(clock, "newcomer", account="newcomer"))
    gates[order[0]].set()
    await eventually(lambda: begun(17))
    assert order[16] == "submission-newcomer"
    for each in (*everybody, submission(clock, "newcomer")):
        gates.setdefault(each.id, asyncio.Event()).set()


async def test_whoever_gives_its_turn_back_goes_on_while_another_is_read(begin: Begin) -> None:
    """Of one account's pages of one host three are read at once, and here the fourth as well."""
    gate, order, ended, clock = asyncio.Event(), list[str](), list[str](), Clock()

    async def read(submission_id: str) -> None:
        order.append(submission_id)
        if len(order) == 1:
            give_back_turn()
            give_back_turn()
        await gate.wait()
        ended.append(submission_id)

    async def begun(number: int) -> bool:
        return len(order) >= number

    world = begin(read)
    for n in range(6):
        await world.queue.enqueue(submission(clock, f"n{n}"))
    await eventually(lambda: begun(4))
    with pytest.raises(AssertionError):
        await eventually(lambda: begun(5), seconds=1)
    assert ended == []
    gate.set()
    await eventually(lambda: begun(6))
    assert len(set(order)) == 6


async def _begun(reader: Reader, times: int) -> bool:
    return reader.begun.total() >= times


@pytest.mark.promise("promises.accepted-never-lost")
async def test_stopping_cancels_what_is_being_read_so_that_it_is_handed_back(begin: Begin) -> None:
    reader, clock = Reader(), Clock()
    reader.gate.clear()
    world = begin(reader.read)
    await world.queue.enqueue(submission(clock))
    await reader.has_begun("submission-one")
    await world.stop()
    assert reader.cancelled == {"submission-one": 1}


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_submission_whose_hint_was_lost_is_swept_up(begin: Begin, store: Store) -> None:
    clock = Clock()
    world = begin(SubmissionWork(store, take, clock).read)
    await store.submissions.add(submission(clock))
    async with sweeping(store, world.queue, clock):
        assert (await ended(store, "submission-one")).status == "done"


@pytest.mark.slow
@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_killed_workers_submission_goes_to_another_when_its_lease_has_run_out(
    begin: Begin, store: Store
) -> None:
    clock = Clock()
    world = begin(SubmissionWork(store, take, clock).read)
    await store.submissions.add(submission(clock))
    claimed = await store.submissions.claim("submission-one", clock.now, clock.now + timedelta(seconds=30))
    assert claimed is not None
    await world.queue.enqueue(claimed)
    async with sweeping(store, world.queue, clock):
        await world.queue.enqueue(submission(clock, "unknown"))
        assert await store.submissions.get("submission-one") == claimed
        clock.forward(30)
        done = await ended(store, "submission-one")
    assert (done.status, done.attempts) == ("done", 2)


@pytest.mark.promise("promises.idempotent")
async def test_two_workers_read_each_submission_once(begin: Begin, store: Store) -> None:
    clock, asked = Clock(), list[str]()

    async def note(submission: Submission) -> Article:
        asked.append(submission.url)
        return make_article()

    worlds = [begin(SubmissionWork(store, note, clock).read) for _ in range(2)]
    for n in range(12):
        stored = await store.submissions.add(submission(clock, f"n{n}"))
        for world in worlds:
            await world.queue.enqueue(stored)
    for n in range(12):
        assert (await ended(store, f"submission-n{n}")).attempts == 1
    assert len(asked) == len(set(asked)) == 12


async def test_closing_again_is_harmless(begin: Begin) -> None:
    world = begin(Reader().read)
    await world.stop()
    await world.stop()
