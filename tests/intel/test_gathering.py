"""Who asks at the same time is answered together, and never told what was before it asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from intel.errors import StoreUnavailable
from intel.gathering import Gathering

Request = tuple[list[str], "asyncio.Future[list[str]]"]


class Server:
    """Answers each request when it is told to."""

    def __init__(self) -> None:
        self._begun: asyncio.Queue[Request] = asyncio.Queue()

    async def ask(self, questions: Sequence[str]) -> list[str]:
        answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._begun.put_nowait((list(questions), answer))
        return await answer

    async def begun(self) -> Request:
        """Return the next request when it has begun."""
        return await asyncio.wait_for(self._begun.get(), 60)

    @property
    def is_idle(self) -> bool:
        return self._begun.empty()


def asking(gathered: Gathering[str, str], *questions: str) -> list[asyncio.Task[str]]:
    return [asyncio.create_task(gathered(question)) for question in questions]


async def test_those_who_ask_at_the_same_time_share_a_request() -> None:
    server = Server()
    asked = asking(Gathering(server.ask, 10), "a", "b", "a")
    questions, answer = await server.begun()
    answer.set_result(["1", "2", "3"])
    assert (questions, await asyncio.gather(*asked)) == (["a", "b", "a"], ["1", "2", "3"])
    assert server.is_idle


async def test_who_asks_while_a_request_is_under_way_gets_one_that_begins_later() -> None:
    server = Server()
    gathered = Gathering(server.ask, 10)
    first = asking(gathered, "first")
    _, answer_first = await server.begun()
    later = asking(gathered, "a", "b")
    await asyncio.sleep(0)
    assert server.is_idle
    answer_first.set_result(["1"])
    questions, answer = await server.begun()
    answer.set_result(["2", "3"])
    assert questions == ["a", "b"]
    assert await asyncio.gather(*first, *later) == ["1", "2", "3"]


async def test_nobody_waits_long_for_a_request_that_takes_its_time() -> None:
    server = Server()
    gathered = Gathering(server.ask, 10)
    slow = asking(gathered, "slow")
    await server.begun()
    late = asking(gathered, "late")
    questions, answer = await server.begun()
    answer.set_result(["2"])
    assert (questions, await asyncio.gather(*late)) == (["late"], ["2"])
    slow[0].cancel()


async def test_a_request_holds_no_more_than_it_may() -> None:
    server = Server()
    asked = asking(Gathering(server.ask, 2), "a", "b", "c")
    for expected in (["a", "b"], ["c"]):
        questions, answer = await server.begun()
        assert questions == expected
        answer.set_result(questions)
    assert await asyncio.gather(*asked) == ["a", "b", "c"]


async def test_a_failure_reaches_all_in_the_request_and_the_next_one_is_made() -> None:
    server = Server()
    gathered = Gathering(server.ask, 10)
    both = asking(gathered, "a", "b")
    (await server.begun())[1].set_exception(StoreUnavailable("away"))
    for one in both:
        with pytest.raises(StoreUnavailable):
            await one
    (again,) = asking(gathered, "c")
    (await server.begun())[1].set_result(["3"])
    assert await again == "3"


async def test_one_who_stops_waiting_does_not_end_the_request_of_the_others() -> None:
    server = Server()
    gone, stays = asking(Gathering(server.ask, 10), "a", "b")
    _, answer = await server.begun()
    gone.cancel()
    await asyncio.wait([gone])
    answer.set_result(["1", "2"])
    assert await stays == "2"
