"""Send many writes at once to any of the indices; repeat those that may be sent again, and report those that met
another version.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from intel.store.elastic.client import (
    AnswerLost,
    Cluster,
    Conflict,
    IndexMissing,
    Overloaded,
    Patience,
    WritesBlocked,
    as_error,
)
from intel.store.elastic.index import Document, Found
from intel.store.elastic.pauses import LOST_SECONDS, TryAgain, retried

# Three portions of each save are in memory at once: larger ones are no faster.
_MOST_BYTES = 1_000_000
# A node works on each portion in one thread, and the next one is made meanwhile.
_PORTIONS_UNDER_WAY = 2
_MADE_AT_ONCE = 50
_ITEM_FILTER = "errors,items.*.status,items.*.error.type,items.*.error.reason"
_CREATED_FILTER = f"{_ITEM_FILTER},items.*._index,items.*._seq_no,items.*._primary_term"


@dataclass(frozen=True, slots=True)
class Write:
    """One write: `kind` is index, create, update (of the members given) or delete.

    `place` is an alias, where not `alias` an index.
    """

    kind: str
    place: str
    id: str
    document: Document | None = None
    expected: Found | None = None
    alias: bool = True

    def lines(self) -> bytes:
        """Return the write as bulk requests spell it."""
        action: dict[str, Any] = {"_index": self.place, "_id": self.id}
        if self.expected is not None:
            action |= {"if_seq_no": self.expected.seq_no, "if_primary_term": self.expected.primary_term}
        if self.alias and self.kind != "delete":
            action["require_alias"] = True
        lines = orjson.dumps({self.kind: action}) + b"\n"
        if self.document is None:
            return lines
        return lines + orjson.dumps({"doc": self.document} if self.kind == "update" else self.document) + b"\n"


def expecting(kind: str, found: Found, document: Document | None = None) -> Write:
    """Return a write that passes only if the document is as it was read."""
    return Write(kind, found.index, found.id, document, found, alias=False)


_Portion = list[tuple[str, bytes]]
T = TypeVar("T")


class Bulk:
    """Sends writes in portions."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def write_all(self, writes: Iterable[Write], patience: Patience = Patience.LONG_WRITE) -> None:
        """Carry out every write; repeat those that met a block, were turned away or got no answer.

        All must bear repetition.
        """
        await self._each_portion(writes, lambda portion: self._write_portion(portion, patience))

    async def _write_portion(self, left: _Portion, patience: Patience) -> None:
        lost_until = time.monotonic() + LOST_SECONDS

        @retried()
        async def attempt() -> None:
            nonlocal left
            try:
                left = await self._left_over(left, patience)
            except AnswerLost:
                if time.monotonic() > lost_until:
                    raise
            if left:
                raise TryAgain

        await attempt()

    async def try_all(self, writes: Iterable[Write]) -> list[bool]:
        """Send each write once; False where its document changed since, its index was replaced, its answer was lost,
        or the cluster turned it away.
        """
        return [one for some in await self._each_portion(writes, self._try_portion) for one in some]

    async def try_in_turn(self, parts: AsyncIterator[Iterable[Write]]) -> list[bool]:
        """Do as `try_all` with writes that are made part by part, while the cluster is at those before."""
        return [one for some in await self._each_portion_of(_portions_of(parts), self._try_portion) for one in some]

    async def _try_portion(self, portion: _Portion) -> list[bool]:
        try:
            errors = await self._send(portion, Patience.LONG_WRITE)
        except AnswerLost:
            return [False] * len(portion)
        await self._met(errors)
        _raise_unless_settled(errors)
        return [error is None for error in errors]

    async def _each_portion(
        self, writes: Iterable[Write], send: Callable[[_Portion], Coroutine[Any, Any, T]]
    ) -> list[T]:
        return await self._each_portion_of(_portions(writes), send)

    async def _each_portion_of(
        self, portions: AsyncIterator[_Portion], send: Callable[[_Portion], Coroutine[Any, Any, T]]
    ) -> list[T]:
        """Send all portions, few at a time: the next one is made while the cluster is at those before."""
        answers: list[T] = []
        under_way = deque[asyncio.Task[T]]()
        try:
            async for portion in portions:
                if len(under_way) == _PORTIONS_UNDER_WAY:
                    answers.append(await under_way.popleft())
                under_way.append(asyncio.create_task(send(portion)))
                await asyncio.sleep(0)
            while under_way:
                answers.append(await under_way.popleft())
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
        return answers

    async def create(self, writes: Sequence[Write]) -> dict[str, Found]:
        """Create documents, as many as fit into one request; return those of which the answer tells that it made them,
        by id.
        """
        if not writes:
            return {}
        body = b"".join([write.lines() for write in writes])
        try:
            answer = await self._cluster.ask("POST", "/_bulk", body, Patience.LONG_WRITE, filter_path=_CREATED_FILTER)
        except AnswerLost:
            return {}
        results = [told for item in answer["items"] for told in item.values()]
        errors = [_error_of("create", item) for item in answer["items"]]
        await self._met(errors)
        _raise_unless_settled(errors)
        return {
            write.id: Found(told["_index"], write.id, told["_seq_no"], told["_primary_term"], write.document or {})
            for write, told, error in zip(writes, results, errors, strict=True)
            if error is None
        }

    async def settle(self, writes: Iterable[Write]) -> None:
        """Send writes that expect a version until each has passed or cannot pass any more."""
        async for portion in _portions(writes):
            await self._settle_portion(portion)

    @retried(LOST_SECONDS)
    async def _settle_portion(self, portion: _Portion) -> None:
        try:
            errors = await self._send(portion, Patience.LONG_WRITE)
        except AnswerLost:
            raise TryAgain from None
        await self._met(errors)
        _raise_unless_settled(errors)

    async def _left_over(self, portion: _Portion, patience: Patience) -> _Portion:
        errors = await self._send(portion, patience)
        for error in errors:
            if error is not None and not isinstance(error, WritesBlocked | IndexMissing | Overloaded):
                raise error
        await self._met(errors)
        return [one for one, error in zip(portion, errors, strict=True) if error is not None]

    async def _met(self, errors: Sequence[Exception | None]) -> None:
        """Repair what can be repaired before the next attempt."""
        if any(isinstance(error, IndexMissing) for error in errors):
            await self._cluster.make_missing()
        if any(isinstance(error, WritesBlocked) for error in errors):
            await self._cluster.met_block()

    async def _send(self, portion: _Portion, patience: Patience) -> list[Exception | None]:
        body = b"".join([lines for _, lines in portion])
        answer = await self._cluster.ask("POST", "/_bulk", body, patience, filter_path=_ITEM_FILTER)
        if not answer["errors"]:
            return [None] * len(portion)
        return [_error_of(kind, item) for (kind, _), item in zip(portion, answer["items"], strict=True)]


def _raise_unless_settled(errors: Sequence[Exception | None]) -> None:
    """Raise what does not say whether the document is as it was expected."""
    for error in errors:
        if error is not None and not isinstance(error, Conflict | WritesBlocked | IndexMissing | Overloaded):
            raise error


def _error_of(kind: str, item: dict[str, Any]) -> Exception | None:
    (result,) = item.values()
    if result["status"] < 300 or (kind == "delete" and result["status"] == 404 and "error" not in result):
        return None
    error = result.get("error", {})
    return as_error(result["status"], str(error.get("type")), str(error.get("reason")))


def _portions(writes: Iterable[Write]) -> AsyncIterator[_Portion]:
    async def only_part() -> AsyncIterator[Iterable[Write]]:
        yield writes

    return _portions_of(only_part())


async def _portions_of(parts: AsyncIterator[Iterable[Write]]) -> AsyncIterator[_Portion]:
    """Yield the writes, each as its kind and its lines, as many at once as one request takes; other work goes on
    meanwhile.
    """
    portion: _Portion = []
    size = 0
    async for writes in parts:
        for number, write in enumerate(writes, start=1):
            lines = write.lines()
            portion.append((write.kind, lines))
            size += len(lines)
            if size > _MOST_BYTES:
                yield portion
                portion, size = [], 0
            if number % _MADE_AT_ONCE == 0:
                await asyncio.sleep(0)
    if portion:
        yield portion
