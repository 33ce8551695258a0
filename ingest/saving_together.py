"""New articles that were read at about the same time are saved in one step: each alone costs the store several times as
much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from ingest.queue.giving_back import give_back_turn
from ingest.reading import ReadPage
from intel.errors import StoreUnavailable
from intel.records import Article

# Saved in one step.
_MOST_SIGHTINGS: Final = 10_000
_MOST_ARTICLES: Final = 500
_MOST_TEXT: Final = 4_000_000
# So many are worth a step at once, however dear steps are.
_WORTH_A_STEP: Final = 12
# Whoever waits beyond this keeps its turn to be read, so that no more comes to wait in memory.
_MOST_WAITING_TEXT: Final = 1_000_000
_MOST_WAITING_SIGHTINGS: Final = 5_000
# One that takes so much longer than others is saved by itself, so that none of them waits for it.
_LARGE_SIGHTINGS: Final = 1_000

# Saves the pages that are new; None for one whose article is known.
SaveNew = Callable[[Sequence[ReadPage]], Awaitable[Sequence[Article | None]]]
_Step = list[tuple[ReadPage, "asyncio.Future[Article | None]"]]


@dataclass(slots=True)
class Load:
    """How much is to be saved."""

    articles: int = 0
    sightings: int = 0
    text: int = 0

    def add(self, *pages: ReadPage) -> None:
        self.articles += len(pages)
        self.sightings += sum(len(page.sightings) for page in pages)
        self.text += sum(len(page.article.text or "") for page in pages)

    @property
    def is_full(self) -> bool:
        return self.articles >= _MOST_ARTICLES or self.sightings >= _MOST_SIGHTINGS or self.text >= _MOST_TEXT

    @property
    def leaves_room(self) -> bool:
        """Tell whether more may be read while this waits."""
        return self.sightings < _MOST_WAITING_SIGHTINGS and self.text < _MOST_WAITING_TEXT


class SavingTogether:
    """Saves what is read while a step is being saved in the next step.

    `pause_seconds`: the next step begins so long after the last one began at the earliest, and `patience_seconds` later
    where few pages wait and others are being read, for a store that asks much of each step however little is in it.
    Where a step fails for another reason than the store, its pages are saved one by one, so that each meets its own
    fate alone.
    """

    def __init__(self, save_new: SaveNew, pause_seconds: float = 0.0, patience_seconds: float = 0.0) -> None:
        self._save_new = save_new
        self._pause_seconds = pause_seconds
        self._patience_seconds = patience_seconds
        self._waiting: _Step = []
        self._load = Load()
        self._under_way = 0
        self._saving: asyncio.Task[None] | None = None
        self._is_worth_a_step = asyncio.Event()

    async def __call__(self, page: ReadPage) -> Article | None:
        """Save a page, and return its article; None where that is known already, and nothing was saved."""
        if len(page.sightings) > _LARGE_SIGHTINGS:
            (article,) = await self._save_new([page])
            return article
        saved: asyncio.Future[Article | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((page, saved))
        self._load.add(page)
        if self._load.leaves_room:
            give_back_turn()
        self._look_whether_it_is_worth_a_step()
        if self._saving is None:
            self._saving = asyncio.create_task(self._save_all())
        return await saved

    @contextmanager
    def page_under_way(self) -> Iterator[None]:
        """Know of a page that is fetched, read and saved within: a step is worth it when no other one comes."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._look_whether_it_is_worth_a_step()

    async def close(self) -> None:
        """Stop saving; whoever waits is cancelled."""
        if self._saving is not None:
            self._saving.cancel()
            await asyncio.gather(self._saving, return_exceptions=True)
        _cancel(self._waiting)

    async def _save_all(self) -> None:
        step: _Step = []
        try:
            while step := self._next_step():
                next_begins = asyncio.get_running_loop().time() + self._pause_seconds
                await self._save(step)
                step = []
                await asyncio.sleep(max(0.0, next_begins - asyncio.get_running_loop().time()))
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(next_begins + self._patience_seconds):
                        await self._is_worth_a_step.wait()
        finally:
            self._saving = None
            _cancel(step)

    def _next_step(self) -> _Step:
        """Take what is saved next, in the order in which it was read; what nobody waits for any more is left out."""
        step: _Step = []
        load = Load()
        while self._waiting and not load.is_full:
            page, saved = self._waiting.pop(0)
            if not saved.done():
                step.append((page, saved))
                load.add(page)
        self._load = Load()
        self._load.add(*(page for page, _ in self._waiting))
        self._look_whether_it_is_worth_a_step()
        return step

    def _look_whether_it_is_worth_a_step(self) -> None:
        """Begin the next step without patience where many pages wait, or all that are under way."""
        if len(self._waiting) >= _WORTH_A_STEP or (self._waiting and len(self._waiting) >= self._under_way):
            self._is_worth_a_step.set()
        else:
            self._is_worth_a_step.clear()

    async def _save(self, step: _Step) -> None:
        try:
            articles = await self._save_new([page for page, _ in step])
        except Exception as error:
            if len(step) > 1 and not isinstance(error, StoreUnavailable):
                for one in step:
                    await self._save([one])
                return
            for _, saved in step:
                if not saved.done():
                    saved.set_exception(error)
            return
        for (_, saved), article in zip(step, articles, strict=True):
            if not saved.done():
                saved.set_result(article)


def _cancel(step: _Step) -> None:
    for _, saved in step:
        saved.cancel()
    step.clear()
