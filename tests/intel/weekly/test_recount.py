"""Three weeks of made-up articles, counted by the service and once more by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from functools import cache
from random import Random
from typing import Any

import orjson
import pytest
import pytest_asyncio

from intel.awareness import load_lessons
from intel.records import IOC_TYPES, Week
from intel.store import Store
from intel.weekly import week_start, weekly
from tests.contract.store.builders import hour
from tests.contract.store.conftest import ENGINES, Open, open_elasticsearch, open_sqlite, opened
from tests.contract.store.corpus import Saved, make_corpus
from tests.indices import unmade
from tests.intel.weekly import recount

WEEKS = ("2026-W46", "2026-W47", "2026-W48")
NOW = hour(24 * 30)
SEVEN_DAYS = timedelta(days=7)
SUBJECTS = ("malware", "cve", "mitre_attack")


def three_weeks() -> tuple[Saved, ...]:
    """The corpus of the store's own suite, spread over three weeks; some of it lies exactly on their borders."""
    random, shifted = Random(11), []
    for saved in make_corpus(60):
        article = saved.article
        days = timedelta(days=random.choice((-7, -5, 0, 3, 7, 9)))
        if random.random() < 0.1:
            moment = week_start(random.choice(WEEKS)) - timedelta(milliseconds=random.choice((0, 1)))
        else:
            moment = article.seen_at.replace(month=11, day=16) + days
        published_at = None if article.published_at is None else moment
        shifted.append(replace(saved, article=replace(article, published_at=published_at, fetched_at=moment)))
    return tuple(shifted)


SAVES = three_weeks()
ALL = recount.published(SAVES)


async def save(store: Store, saves: Iterable[Saved]) -> None:
    for saved in saves:
        await store.articles.save(saved.article, saved.sightings, [])


async def fill(open_store: Open) -> None:
    async for store in opened(open_store):
        await save(store, SAVES)


@pytest.fixture(scope="module")
def filled_on(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Open]]:
    """Saves all articles once on each engine; tests that take it add nothing but the weeks that they ask for."""
    with ExitStack() as stack:

        @cache
        def filled(engine: str) -> Open:
            if engine == "sqlite":
                opener = open_sqlite(tmp_path_factory.mktemp("weeks"))
            else:
                url = request.getfixturevalue("elasticsearch_url")
                opener = open_elasticsearch(url, stack.enter_context(unmade(url)))
            asyncio.run(fill(opener))
            return opener

        yield filled


@pytest.fixture(params=ENGINES)
def open_filled(request: pytest.FixtureRequest, filled_on: Callable[[str], Open]) -> Open:
    return filled_on(request.param)


@pytest_asyncio.fixture
async def filled(open_filled: Open) -> AsyncIterator[Store]:
    async for each in opened(open_filled):
        yield each


@pytest_asyncio.fixture
async def filled_sqlite(sqlite_store: Store) -> AsyncIterator[Store]:
    await save(sqlite_store, SAVES)
    yield sqlite_store


@pytest_asyncio.fixture
async def filled_elastic(elastic_store: Store) -> AsyncIterator[Store]:
    latest = {saved.article.id: saved for saved in SAVES}
    await save(elastic_store, [latest[id] for id in sorted(latest)])
    yield elastic_store


async def week_of(store: Store, id: str) -> Week:
    return await weekly(store, id, load_lessons(), NOW)


@pytest.mark.slow
@pytest.mark.promise("weekly.counts")
async def test_every_number_is_what_a_second_count_gives(filled: Store) -> None:
    for id in WEEKS:
        body = (await week_of(filled, id)).body
        start, end = week_start(id), week_start(id) + SEVEN_DAYS
        counts = recount.recount(ALL, start, end)
        assert counts["articles"] and counts["iocs_total"] > 0
        assert {name: body["counts"][name] for name in counts} == counts, id
        before = recount.recount(ALL, start - SEVEN_DAYS, start)
        if body["trend"] is None:
            assert id == WEEKS[0] and not before["articles"]
            continue
        for name in ("articles", "sources", "iocs_total", "new_iocs_total"):
            assert body["trend"][name] == change(counts[name], before[name])
        for name in ("iocs", "new_iocs"):
            assert body["trend"][name] == {t: change(counts[name][t], before[name][t]) for t in IOC_TYPES}


def change(now: int, previous: int) -> dict[str, Any]:
    pct = pytest.approx(100 * (now - previous) / previous, abs=0.006) if previous else None
    return {"previous": previous, "delta": now - previous, "pct": pct}


@pytest.mark.slow
@pytest.mark.promise("weekly.top")
async def test_every_top_list_is_what_a_second_count_gives(filled: Store) -> None:
    for id in WEEKS:
        body = (await week_of(filled, id)).body
        start, end = week_start(id), week_start(id) + SEVEN_DAYS
        others = recount.rows(ALL, start, end, start - SEVEN_DAYS, lambda type: type not in SUBJECTS, 20)
        assert body["top_iocs"] == others, id
        for type, name in zip(SUBJECTS, ("top_malware", "top_cves", "top_techniques"), strict=True):
            rows = recount.rows(ALL, start, end, start - SEVEN_DAYS, type.__eq__, 10)
            assert [{key: row[key] for key in rows[0]} for row in body[name]] == rows, (id, type)
        for row in body["top_malware"]:
            assert row["iocs"] == recount.beside_malware(ALL, start, end, row["name"])
        for row in body["top_techniques"]:
            assert row["iocs"] == recount.beside_technique(ALL, start, end, row["id"])


@pytest.mark.promise("weekly.same-bytes")
async def test_both_engines_publish_the_same_bytes_in_whatever_order_articles_came(
    filled_sqlite: Store, filled_elastic: Store
) -> None:
    for id in WEEKS:
        one, other = await week_of(filled_sqlite, id), await week_of(filled_elastic, id)
        assert orjson.dumps(one.body) == orjson.dumps(other.body)
        read_back = await filled_sqlite.weeks.get(id), await filled_elastic.weeks.get(id)
        assert [orjson.dumps(week.body) if week else b"" for week in read_back] == [orjson.dumps(one.body)] * 2
