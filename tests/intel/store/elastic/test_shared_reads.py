"""A shared read is made once for all who wait, and never tells what was before somebody asked."""

from __future__ import annotations

import asyncio

import pytest

from intel.errors import StoreUnavailable
from intel.store.elastic.shared_reads import SharedRead


class Engine:
    """Answers each read when it is told to."""

    def __init__(self) -> None:
        self._begun: asyncio.Queue[asyncio.Future[int]] = asyncio.Queue()

    async def read(self) -> int:
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._begun.put_nowait(answer)
        return await answer

    async def begun(self) -> asyncio.Future[int]:
        """Return the next read when it has begun."""
        return await asyncio.wait_for(self._begun.get(), 5)

    @property
    def is_idle(self) -> bool:
        return self._begun.empty()


async def test_those_who_ask_during_a_read_share_the_next_one() -> None:
    engine = Engine()
    shared = SharedRead(engine.read)
    first = asyncio.create_task(shared())
    read = await engine.begun()
    later = [asyncio.create_task(shared()) for _ in range(5)]
    await asyncio.sleep(0)
    read.set_result(1)
    (await engine.begun()).set_result(2)
    assert [await first, *[await one for one in later]] == [1, 2, 2, 2, 2, 2]
    assert engine.is_idle


async def test_who_asks_after_a_read_gets_a_new_one() -> None:
    engine = Engine()
    shared = SharedRead(engine.read)
    for number in (1, 2):
        asking = asyncio.create_task(shared())
        (await engine.begun()).set_result(number)
        assert await asking == number


async def test_a_failure_reaches_all_who_wait_and_the_next_read_is_made() -> None:
    engine = Engine()
    shared = SharedRead(engine.read)
    both = [asyncio.create_task(shared()) for _ in range(2)]
    (await engine.begun()).set_exception(StoreUnavailable("away"))
    for one in both:
        with pytest.raises(StoreUnavailable):
            await one
    again = asyncio.create_task(shared())
    (await engine.begun()).set_result(2)
    assert await again == 2


async def test_one_who_stops_waiting_does_not_end_the_read_of_the_others() -> None:
    engine = Engine()
    shared = SharedRead(engine.read)
    gone, stays = (asyncio.create_task(shared()) for _ in range(2))
    read = await engine.begun()
    gone.cancel()
    await asyncio.wait([gone])
    read.set_result(1)
    assert await stays == 1
