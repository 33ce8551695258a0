"""What is read at about the same time is saved in one step, and everybody meets the fate of their own page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingest.fetch import FetchedPage
from ingest.pipeline import Pipeline
from ingest.queue.giving_back import turn_given_back_by
from ingest.reading import Page, ReadPage, read_page
from ingest.saving_together import SavingTogether
from intel.errors import StoreUnavailable
from intel.records import Article, Sighting
from intel.store import Store
from tests.api.running import NOON, Clock

Step = tuple[list[str], "asyncio.Future[list[Article | None]]"]


class Saver:
    """Ends each step when it is told to; texts that are `broken` fail."""

    def __init__(self) -> None:
        self.broken: set[str] = set()
        self._begun: asyncio.Queue[Step] = asyncio.Queue()

    async def save_new(self, pages: Sequence[ReadPage]) -> list[Article | None]:
        ended: asyncio.Future[list[Article | None]] = asyncio.get_running_loop().create_future()
        self._begun.put_nowait(([page.article.title for page in pages], ended))
        await ended
        if any(page.article.title in self.broken for page in pages):
            raise LookupError("a fault of ours")
        return [page.article for page in pages]

    async def step(self, error: Exception | None = None) -> list[str]:
        """End the next step that begins, and return the titles in it."""
        titles, ended = await asyncio.wait_for(self._begun.get(), 60)
        ended.set_exception(error) if error else ended.set_result([])
        return titles


def page(title: str, indicators: int = 1) -> ReadPage:
    text = f"{title}\n\nThe loader called evil-kestrel[.]org and nothing else was seen that night.\n"
    read = read_page(Page(text.encode(), "text/plain", None, None, "News", NOON))
    seen = tuple(Sighting("ip", f"198.51.{each // 256}.{each % 256}", "", (), each) for each in range(indicators))
    return replace(read, article=replace(read.article, title=title), sightings=seen)


def saving(saving_together: SavingTogether, *pages: ReadPage) -> list[asyncio.Task[Article | None]]:
    return [asyncio.create_task(saving_together(each)) for each in pages]


async def titles_of(tasks: Sequence[asyncio.Task[Article | None]]) -> list[str]:
    return [article.title for article in await asyncio.gather(*tasks) if article]


async def test_what_is_read_while_others_are_saved_is_one_step() -> None:
    saver = Saver()
    together = SavingTogether(saver.save_new)
    tasks = saving(together, page("first"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tasks += saving(together, page("a"), page("b"))
    assert [await saver.step(), await saver.step()] == [["first"], ["a", "b"]]
    assert await titles_of(tasks) == ["first", "a", "b"]


async def test_what_is_read_soon_after_a_step_began_is_one_step_where_steps_are_dear() -> None:
    saver = Saver()
    together = SavingTogether(saver.save_new, pause_seconds=0.3)
    first = saving(together, page("first"))
    assert await saver.step() == ["first"]
    assert await titles_of(first) == ["first"]
    tasks = saving(together, page("a"))
    for _ in range(5):
        await asyncio.sleep(0)
    tasks += saving(together, page("b"))
    assert await saver.step() == ["a", "b"]
    assert await titles_of(tasks) == ["a", "b"]


async def test_several_that_wait_are_a_step_at_once_however_dear_steps_are() -> None:
    saver = Saver()
    together = SavingTogether(saver.save_new, pause_seconds=0.1, patience_seconds=600)
    first = saving(together, page("first"))
    assert await saver.step() == ["first"]
    assert await titles_of(first) == ["first"]
    tasks = saving(together, page("a"), page("b"), page("c"))
    assert await saver.step() == ["a", "b", "c"]
    assert await titles_of(tasks) == ["a", "b", "c"]
    await together.close()


async def test_a_step_waits_for_pages_under_way_and_begins_when_none_is_left() -> None:
    saver = Saver()
    together = SavingTogether(saver.save_new, patience_seconds=600)
    with together.page_under_way(), together.page_under_way(), together.page_under_way():
        first = saving(together, page("first"))
        assert (await saver.step(), await titles_of(first)) == (["first"], ["first"])
        tasks = saving(together, page("a"))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(tasks[0]), 0.1)
        tasks += saving(together, page("b"), page("c"))
        assert await saver.step() == ["a", "b", "c"]
        assert await titles_of(tasks) == ["a", "b", "c"]
        with together.page_under_way():
            tasks = saving(together, page("d"), page("e"), page("f"))
            await asyncio.sleep(0)
        assert await saver.step() == ["d", "e", "f"]
        assert await titles_of(tasks) == ["d", "e", "f"]
    await together.close()


async def test_who_waits_to_be_saved_gives_its_turn_back_unless_much_waits() -> None:
    saver, given_back = Saver(), list[str]()
    together = SavingTogether(saver.save_new)

    async def taken(title: str, indicators: int) -> None:
        with turn_given_back_by(lambda: given_back.append(title)):
            await together(page(title, indicators))

    tasks = [asyncio.create_task(taken(str(n), 1_000)) for n in range(6)]
    assert await saver.step() == ["0", "1", "2", "3", "4", "5"]
    await asyncio.gather(*tasks)
    assert given_back == ["0", "1", "2", "3"]
    again = asyncio.create_task(taken("again", 1_000))
    assert await saver.step() == ["again"]
    await again
    assert given_back[4:] == ["again"]


async def test_a_page_that_fails_takes_no_other_with_it() -> None:
    saver = Saver()
    saver.broken = {"b"}
    tasks = saving(SavingTogether(saver.save_new), page("a"), page("b"), page("c"))
    assert [await saver.step() for _ in range(4)] == [["a", "b", "c"], ["a"], ["b"], ["c"]]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [Article, LookupError, Article]


async def test_a_store_that_is_away_is_not_asked_again_for_each() -> None:
    saver = Saver()
    together = SavingTogether(saver.save_new)
    tasks = saving(together, page("a"), page("b"))
    assert await saver.step(StoreUnavailable("away")) == ["a", "b"]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [StoreUnavailable, StoreUnavailable]
    later = saving(together, page("c"))
    assert (await saver.step(), await titles_of(later)) == (["c"], ["c"])


async def test_a_large_article_keeps_none_waiting_and_waits_for_none() -> None:
    saver = Saver()
    together = SavingTogether(saver.save_new)
    tasks = saving(together, page("large", 1_001), page("a"))
    assert sorted([*(await saver.step()), *(await saver.step())]) == ["a", "large"]
    assert await titles_of(tasks) == ["large", "a"]


async def test_who_went_away_is_left_out_and_the_end_ends_who_waits() -> None:
    saver = Saver()
    together = SavingTogether(saver.save_new)
    first, gone, other = saving(together, page("first"), page("gone"), page("other"))
    gone.cancel()
    assert await saver.step() == ["first", "other"]
    assert await titles_of([first, other]) == ["first", "other"]
    (waiting,) = saving(together, page("waits"))
    await asyncio.sleep(0)
    await together.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.promise("promises.idempotent")
async def test_of_two_pages_of_an_article_the_first_is_saved_and_the_other_is_told_so(store: Store) -> None:
    async def fetch(url: str) -> FetchedPage:
        raise NotImplementedError

    async def read(each: Page) -> ReadPage:
        return read_page(each)

    one, other = page("one"), page("other")
    same = replace(other, article=replace(other.article, id=one.article.id))
    pipeline = Pipeline(fetch, read, store, Clock())
    saved = await pipeline.take_new([one, same, other])
    assert [article.title if article else None for article in saved] == ["one", None, "other"]
    assert await pipeline.take_new([one]) == (None,)
