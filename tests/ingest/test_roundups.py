"""The newest weeks are computed without anybody asking for them."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from ingest.queue.redis import run_worker
from ingest.roundups import Roundups, build_newest_weeks, keep_weeks
from intel.awareness import load_lessons
from intel.errors import NotFound
from intel.records import Week
from intel.store import Store
from intel.weekly import weekly
from tests.api.pages import eventually
from tests.contract.store.builders import hour, make_article, publish

WEEK = "2026-W47"
NOW = hour(80)
LESSONS = load_lessons()


@pytest.mark.promise("weekly.kept")
async def test_the_newest_weeks_are_computed_again_as_articles_come_in(store: Store) -> None:
    build = build_newest_weeks(store, load_lessons(), lambda: hour(80))
    keeping = asyncio.create_task(keep_weeks(build, pause_seconds=0.01))
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


def roundups_of(store: Store, at_once: int) -> Roundups:
    return Roundups(store, LESSONS, lambda: NOW, at_once)


@pytest.mark.promise("weekly.never-waited-for")
async def test_a_large_week_is_told_in_outline_until_it_is_computed(store: Store) -> None:
    await publish(
        store, make_article("a", at=1, source="One"), "domain a.example", "domain b.example", "ip 203.0.113.9"
    )
    await publish(store, make_article("b", at=2, source="Two"), "domain a.example")
    roundups = roundups_of(store, at_once=1)
    (first,) = await roundups.current([WEEK])
    assert first.revision == 0
    counts = first.body["counts"]
    assert (counts["articles"], counts["sources"], counts["iocs"]["domain"], counts["iocs"]["ip"]) == (2, 2, 2, 1)
    assert first.body["summary"].startswith("2 articles, and 3 indicators last seen in this week. ")

    assert await eventually(lambda: store.weeks.get(WEEK))
    assert [week.revision for week in await roundups.current([WEEK])] == [1]

    await publish(store, make_article("late", at=3), "domain late.example")
    assert [week.revision for week in await roundups.current([WEEK])] == [1]
    assert await eventually(lambda: store.weeks.get(WEEK, 2))
    assert await roundups.current([WEEK]) == [await weekly(store, WEEK, LESSONS, NOW)]
    await roundups.close()


@pytest.mark.promise("weekly.never-waited-for")
async def test_small_weeks_are_computed_when_they_are_asked_for_and_large_ones_before(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    small, large = roundups_of(store, at_once=1_000), roundups_of(store, at_once=1)
    await small.compute_large()
    assert await store.weeks.get(WEEK) is None
    assert [week.revision for week in await small.current([WEEK])] == [1]
    await publish(store, make_article("b", at=2), "domain b.example")
    await asyncio.gather(large.compute_large(), large.compute_large())
    assert await store.weeks.get(WEEK, 2) is not None
    for roundups in (small, large):
        with pytest.raises(NotFound):
            await roundups.current(["2026-W40"])
        await roundups.close()


async def test_looking_at_many_weeks_gives_way_after_each(store: Store) -> None:
    for week in range(6):
        await publish(store, make_article(f"a{week}", at=-24 * 7 * week), "domain a.example")
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(take_turns())
    await roundups_of(store, at_once=1_000_000).compute_large()
    others.cancel()
    assert turns >= 6


async def test_an_outline_counts_what_was_last_seen_in_its_week(store: Store) -> None:
    await publish(store, make_article("old", at=-24 * 7, source="One"), "domain a.example", "domain old.example")
    await publish(store, make_article("new", at=1, source="Two"), "domain a.example", "ip 203.0.113.9")
    (newest, earlier) = await store.articles.weeks()
    assert await store.articles.outline(newest) == (1, 2, {"domain": 1, "ip": 1})
    assert await store.articles.outline(earlier) == (1, 1, {"domain": 1})
    assert await store.articles.outline(newest.replace(year=2000, month=1, day=3)) == (0, 0, {})
