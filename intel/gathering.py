"""Ask another server for all who ask at the same time, in few requests: one costs many times what is asked in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

# More of them would each hold less, and cost more in all.
_REQUESTS_UNDER_WAY = 1
# Nobody waits longer than this for a request that takes its time.
_LONGEST_WAIT_SECONDS = 0.02


class Gathering(Generic[Q, A]):
    """Questions that are asked together.

    What is asked while a request is under way waits, for 20 ms at most, and goes with all else that waits. Whoever asks
    gets an answer to a request that began after it asked: none is kept. `ask` answers questions, at most `most` at
    once, in their order; what it raises, everybody in that request gets.
    """

    def __init__(self, ask: Callable[[Sequence[Q]], Awaitable[Sequence[A]]], most: int) -> None:
        self._ask = ask
        self._most = most
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._next: asyncio.Handle | None = None

    async def __call__(self, question: Q) -> A:
        """Return the answer to one question."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, answer))
        if self._next is None:
            self._plan()
        return await answer

    def _plan(self) -> None:
        loop = asyncio.get_running_loop()
        if len(self._under_way) < _REQUESTS_UNDER_WAY:
            # After all that is ready to run, and what has come in by then: each may ask too.
            self._next = loop.call_soon(self._begin_soon)
        else:
            self._next = loop.call_later(_LONGEST_WAIT_SECONDS, self._begin)

    def _begin_soon(self) -> None:
        self._next = asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._next = None
        asked = [(question, answer) for question, answer in self._waiting[: self._most] if not answer.done()]
        del self._waiting[: self._most]
        if asked:
            task = asyncio.create_task(self._request(asked))
            self._under_way.add(task)
            task.add_done_callback(self._ended)
        if self._waiting:
            self._plan()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if self._waiting:
            if self._next is not None:
                self._next.cancel()
            self._plan()

    async def _request(self, asked: Sequence[tuple[Q, asyncio.Future[A]]]) -> None:
        try:
            answers = await self._ask([question for question, _ in asked])
        except Exception as error:
            for _, answer in asked:
                if not answer.done():
                    answer.set_exception(error)
            return
        except BaseException:
            for _, answer in asked:
                answer.cancel()
            raise
        for (_, answer), told in zip(asked, answers, strict=True):
            if not answer.done():
                answer.set_result(told)
