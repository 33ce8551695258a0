"""Fill an Elasticsearch quickly with the reports of `reports`: many articles at once, from several processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed

import uvloop

from intel.errors import StoreUnavailable
from intel.settings import ElasticsearchSettings
from intel.store import Store
from intel.store.elastic.store import ElasticStore
from intel.store.port import Entry

from .reports import Report, Size, reports

# With 50 indicators each that is as much as `save_many` is meant for.
_AT_ONCE = 150
_A_TASK = 600
# One more than cores: while one waits for the engine, others make reports.
_PROCESSES = (os.cpu_count() or 1) + 1
# An engine of three nodes on two cores may leave a request unanswered while it merges.
_TRIES = 20


def fill(settings: ElasticsearchSettings, size: Size, done: int, tell: Callable[[int], None]) -> None:
    """Save the articles of that size from the one numbered `done` on, in their order; `tell` how many are there.

    One that was saved before, by a run that was cut short, is saved again, which changes nothing.
    """
    tasks = [range(first, min(first + _A_TASK, size.articles)) for first in range(done, size.articles, _A_TASK)]
    with ProcessPoolExecutor(_PROCESSES, multiprocessing.get_context("spawn")) as pool:
        try:
            for each in as_completed([pool.submit(_fill, settings, size, numbers) for numbers in tasks]):
                done += each.result()
                tell(done)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def surely_done(count: int) -> int:
    """Return up to which number all articles are there, where a run that was cut short left so many."""
    return max(0, (count - _PROCESSES * _A_TASK) // _A_TASK * _A_TASK)


def entry(report: Report) -> Entry:
    return Entry(report.article, report.sightings, [report.article.url or ""])


def _fill(settings: ElasticsearchSettings, size: Size, numbers: range) -> int:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_save(settings, size, numbers))
    return len(numbers)


async def _save(settings: ElasticsearchSettings, size: Size, numbers: range) -> None:
    store: Store = ElasticStore(settings)
    try:
        for first in range(0, len(numbers), _AT_ONCE):
            await _save_some(store, [entry(each) for each in reports(size, numbers[first : first + _AT_ONCE])])
    finally:
        await store.close()


async def _save_some(store: Store, entries: list[Entry]) -> None:
    """Save them; again, which changes nothing, as long as the engine is out of reach only for a while."""
    for left in reversed(range(_TRIES)):
        try:
            await store.articles.save_many(entries)
            return
        except StoreUnavailable as error:
            if not left:
                raise
            await asyncio.sleep(error.retry_after_seconds)
