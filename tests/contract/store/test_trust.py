"""The trust of sources: kept, and the best of an indicator's sources told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intel.store.port import Store
from tests.contract.store.builders import id_of, make_article, publish

EVIL, OTHER = id_of("domain evil.example"), id_of("domain other.example")


async def test_a_trust_is_set_changed_and_taken_back(store: Store, other_store: Store) -> None:
    assert await store.trusts.set("Agency", 80) == 50
    assert await other_store.trusts.set("Agency", 90) == 80
    assert await store.trusts.set("分析 Times" * 40, 10) == 50
    assert await store.trusts.set("Blog", 50) == 50
    assert await other_store.trusts.all() == {"Agency": 90, "分析 Times" * 40: 10}
    assert await store.trusts.set("Agency", 50) == 90
    assert list(await other_store.trusts.all()) == ["分析 Times" * 40]


@pytest.mark.promise("trust.best")
async def test_the_most_trusted_source_of_an_indicator_counts(store: Store) -> None:
    await publish(store, make_article("a", source="Agency"), "domain evil.example")
    await publish(store, make_article("b", source="Blog", at=1), "domain evil.example", "domain other.example")
    assert await store.trusts.best_of([EVIL, OTHER]) == {}
    await store.trusts.set("Agency", 90)
    assert await store.trusts.best_of([EVIL, OTHER]) == {EVIL: 90}
    await store.trusts.set("Blog", 20)
    assert await store.trusts.best_of([EVIL, OTHER, id_of("domain none.example")]) == {EVIL: 90, OTHER: 20}
    # One source of the usual trust outweighs one of less.
    await store.trusts.set("Agency", 50)
    assert await store.trusts.best_of([EVIL, OTHER]) == {OTHER: 20}
    await store.trusts.set("Agency", 0)
    assert await store.trusts.best_of([EVIL, OTHER]) == {EVIL: 20, OTHER: 20}
    assert await store.trusts.best_of([]) == {}


@pytest.mark.promise("trust.claimed")
async def test_a_name_that_is_only_claimed_has_no_trust_and_its_domain_has(store: Store) -> None:
    claimed = replace(make_article("a", source="Agency"), source_domain="blog.example")
    await publish(store, claimed, "domain evil.example")
    await store.trusts.set("Agency", 100)
    assert await store.trusts.best_of([EVIL]) == {}
    await store.trusts.set("blog.example", 70)
    assert await store.trusts.best_of([EVIL]) == {EVIL: 70}


async def test_a_copy_has_the_trust_of_the_source_that_it_is_a_copy_of(store: Store) -> None:
    await publish(store, make_article("a", source="Blog", cluster="one"), "domain evil.example")
    await publish(store, make_article("b", source="Agency", cluster="one", at=1), "domain evil.example")
    await store.trusts.set("Agency", 100)
    assert await store.trusts.best_of([EVIL]) == {}
    await store.trusts.set("Blog", 60)
    assert await store.trusts.best_of([EVIL]) == {EVIL: 60}
