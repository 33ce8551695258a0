"""Copies of one text count as one independent source: the earliest one's."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import permutations

import pytest

from intel.records import Article
from intel.store.port import Store
from tests.contract.store.builders import hour, listed, make_article, publish, the_ioc


def copy(name: str, at: float, source: str, cluster: str = "one") -> Article:
    return make_article(name, at=at, source=source, cluster=cluster)


async def counted(store: Store) -> dict[str, str]:
    """Which source each article counts for."""
    seen = store.articles.seen_between(hour(-100), hour(100))
    return {one.article_id: one.counted_source async for one in seen}


@pytest.mark.promise("records.sources-independent")
async def test_copies_count_once(store: Store) -> None:
    for article in (copy("a", 1, "Agency"), copy("b", 2, "Paper"), copy("c", 3, "Portal")):
        await publish(store, article, "domain evil.example")
    found = await the_ioc(store, "domain evil.example")
    assert (found.sightings, found.sources) == (3, 1)


async def test_different_texts_of_one_source_count_once(store: Store) -> None:
    await publish(store, copy("a", 1, "Agency", "one"), "domain evil.example")
    await publish(store, copy("b", 2, "Agency", "two"), "domain evil.example")
    await publish(store, copy("c", 2, "Paper", "three"), "domain evil.example")
    assert (await the_ioc(store, "domain evil.example")).sources == 2


@pytest.mark.parametrize("order", list(permutations(range(4)))[::5], ids=str)
async def test_the_order_of_arrival_changes_nothing(store: Store, order: tuple[int, ...]) -> None:
    articles = [
        copy("a", 1, "Agency"),
        copy("b", 2, "Paper"),
        copy("c", 3, "Agency", "two"),
        copy("d", 0, "Paper", "three"),
    ]
    for n in order:
        await publish(store, articles[n], "domain evil.example")
    found = await the_ioc(store, "domain evil.example")
    assert (found.sightings, found.sources) == (4, 2)
    assert await counted(store) == {
        articles[0].id: "Agency",
        articles[1].id: "Agency",
        articles[2].id: "Agency",
        articles[3].id: "Paper",
    }


async def test_an_earlier_copy_that_arrives_later_recounts_its_mates(store: Store) -> None:
    await publish(store, copy("b", 2, "Paper"), "domain evil.example")
    await publish(store, copy("x", 2, "Agency", "two"), "domain evil.example")
    assert (await the_ioc(store, "domain evil.example")).sources == 2
    await publish(store, copy("a", 1, "Agency"))
    assert (await the_ioc(store, "domain evil.example")).sources == 1


async def test_copies_of_one_moment_go_by_the_smallest_id(store: Store) -> None:
    articles = [copy(f"a{n}", 1, f"S{n}") for n in range(5)]
    for article in articles:
        await publish(store, article, "domain evil.example")
    first = min(articles, key=lambda article: article.id)
    assert set((await counted(store)).values()) == {first.source_name}


async def test_an_article_that_leaves_its_cluster_counts_for_itself(store: Store) -> None:
    await publish(store, copy("a", 1, "Agency"), "domain evil.example")
    await publish(store, copy("b", 2, "Paper"), "domain evil.example")
    await publish(store, copy("c", 3, "Portal"), "domain evil.example")
    await publish(store, copy("a", 1, "Agency", "two"), "domain evil.example")
    assert (await the_ioc(store, "domain evil.example")).sources == 2
    assert sorted((await counted(store)).values()) == ["Agency", "Paper", "Paper"]


async def test_a_claimed_name_counts_for_the_domain_of_its_page_and_stays_shown(store: Store) -> None:
    for n, domain in enumerate(("one.example", "one.example", "two.example")):
        claimed = replace(copy(f"a{n}", n, f"Trusted {n}", f"cluster-{n}"), source_domain=domain)
        await publish(store, claimed, "domain evil.example")
    found = await the_ioc(store, "domain evil.example")
    assert (found.sightings, found.sources, found.article.source_name) == (3, 2, "Trusted 2")
    assert (found.article.source_domain, await listed(store, source="Trusted 0")) == ("two.example", ["evil.example"])
    (newest, *_), _ = await store.iocs.mentions_of(found.id, 5)
    assert (newest.article.source_name, newest.article.source_domain) == ("Trusted 2", "two.example")
    await publish(store, copy("mate", -1, "Agency", "cluster-0"))
    assert set((await counted(store)).values()) == {"Agency", "one.example", "two.example"}


async def test_copies_of_a_claimed_page_count_for_its_domain(store: Store) -> None:
    await publish(store, replace(copy("a", 1, "Trusted"), source_domain="one.example"), "domain evil.example")
    await publish(store, copy("b", 2, "Agency"), "domain evil.example")
    assert set((await counted(store)).values()) == {"one.example"}


async def test_a_changed_date_or_source_of_the_first_copy_recounts_its_mates(store: Store) -> None:
    await publish(store, copy("a", 1, "Agency"), "domain evil.example")
    await publish(store, copy("b", 2, "Paper"), "domain evil.example")
    await publish(store, copy("a", 1, "Agency Two"), "domain evil.example")
    assert set((await counted(store)).values()) == {"Agency Two"}
    await publish(store, copy("a", 5, "Agency Two"), "domain evil.example")
    assert set((await counted(store)).values()) == {"Paper"}


async def test_copies_that_arrive_at_once_count_once(store: Store, other_store: Store) -> None:
    articles = [copy(f"a{n}", (n * 7) % 20, f"S{n}") for n in range(20)]
    saving = (publish((store, other_store)[n % 2], a, "domain evil.example") for n, a in enumerate(articles))
    await asyncio.gather(*saving)
    assert set((await counted(store)).values()) == {"S0"}
    found = await the_ioc(store, "domain evil.example")
    assert (found.sightings, found.sources) == (20, 1)
