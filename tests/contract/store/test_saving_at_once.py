"""Articles: saving them again and at once, finding them, and what weekly roundups read."""

from __future__ import annotations

import asyncio

import pytest

from intel.store.port import Store
from tests.contract.store.builders import hour, iocs_in, listed, make_article, publish, search, the_ioc


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_fifty_articles_saved_at_once_count_exactly(store: Store, other_store: Store) -> None:
    shared = [f"domain d{n}.example" for n in range(10)]
    articles = [make_article(f"a{n}", at=n, source=f"S{n % 7}", title=f"word{n}") for n in range(50)]
    stores = (store, other_store)
    saving = (publish(stores[n % 2], article, *shared, f"ip 192.0.2.{n}") for n, article in enumerate(articles))
    await asyncio.gather(*saving)
    for indicator in shared:
        found = await the_ioc(other_store, indicator)
        assert (found.sightings, found.sources, found.first_seen, found.last_seen) == (50, 7, hour(0), hour(49))
        assert found.article == articles[-1].ref
    assert len(await listed(store)) == 60
    assert len(await search(store, "word49")) == 11
    assert len(await search(store, "word30")) == 11
    assert await search(store, "word29") == ["192.0.2.29"]


@pytest.mark.promise("promises.idempotent")
@pytest.mark.timeout(900)
async def test_the_same_article_saved_fifty_times_at_once_counts_once(store: Store, other_store: Store) -> None:
    indicators = ("domain a.example", "domain b.example")
    saving = (publish((store, other_store)[n % 2], make_article(), *indicators) for n in range(50))
    saved = await asyncio.gather(*saving)
    assert all(one.ioc_counts == {"domain": 2} for one in saved)
    assert (await the_ioc(store, "domain a.example")).sightings == 1
    assert len(await listed(store)) == 2
    totals = await store.totals()
    assert (totals.articles, totals.iocs) == (1, 2)


async def test_versions_of_an_article_saved_at_once_leave_one_of_them(store: Store, other_store: Store) -> None:
    versions = [(f"domain v{n}.example", "domain all.example") for n in range(12)]
    saving = (publish((store, other_store)[n % 2], make_article(), *version) for n, version in enumerate(versions))
    await asyncio.gather(*saving)
    article = make_article()
    indicators = {f"domain {ioc.value}" for ioc in await iocs_in(store, article.id)}
    assert indicators in [set(version) for version in versions]
    assert {f"domain {value}" for value in await listed(store)} == indicators
    assert (await the_ioc(store, "domain all.example")).sightings == 1
