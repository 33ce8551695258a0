"""The newest weeks are computed without anybody asking for them."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from ingest.queue.redis import run_worker
from ingest.roundups import build_newest_weeks, keep_weeks
from intel.awareness import load_lessons
from intel.records import Week
from intel.store import Store
from tests.api.pages import eventually
from tests.contract.store.builders import hour, make_article, publish


@pytest.mark.promise("weekly.kept")
async def test_the_newest_weeks_are_computed_again_as_articles_come_in(store: Store) -> None:
    build = build_newest_weeks(store, load_lessons(), lambda: hour(80))
    keeping = asyncio.create_task(keep_weeks(build, 0.01))
    try:
        for n in range(2):
            await publish(store, make_article(f"a{n}", at=n), f"domain d{n}.example")
            await publish(store, make_article(f"late{n}", at=n - 24 * 7), f"domain d{n}.example")
            for id in ("2026-W46", "2026-W47"):
                assert await eventually(partial(counting, store, id, n + 1))
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def counting(store: Store, id: str, articles: int) -> Week | None:
    """The stored week, once it counts so many articles."""
    week = await store.weeks.get(id)
    return week if week is not None and week.body["counts"]["articles"] == articles else None


async def test_a_store_without_articles_or_out_of_reach_ends_nothing(store: Store) -> None:
    build = build_newest_weeks(store, load_lessons(), lambda: hour(80))
    await build()
    await store.close()
    await build()


@pytest.mark.promise("weekly.kept")
async def test_the_worker_computes_them_too(store: Store, redis_database: str) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    stopping = asyncio.Event()
    build = build_newest_weeks(store, load_lessons(), lambda: hour(80))
    working = asyncio.create_task(run_worker(redis_database, read_nothing, stopping, build))
    try:
        assert await eventually(lambda: counting(store, "2026-W47", 1))
    finally:
        stopping.set()
        await working


async def read_nothing(submission_id: str) -> None:
    raise AssertionError(submission_id)
