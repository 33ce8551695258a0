"""Weekly roundups are kept revision by revision."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from intel.records import Week
from intel.store.port import Store
from tests.contract.store.builders import hour

WEEK = Week("2026-W47", 1, "basis", hour(0), {"id": "2026-W47", "counts": {"iocs": {"ip": 3}}, "top": [1.5, None, "ü"]})


async def test_a_week_is_read_back_whole(store: Store, other_store: Store) -> None:
    assert await store.weeks.add(WEEK)
    assert await other_store.weeks.get("2026-W47") == WEEK
    assert await store.weeks.get("2026-W47", 1) == WEEK
    assert await store.weeks.get("2026-W47", 2) is None
    assert await store.weeks.get("2026-W48") is None


async def test_a_revision_is_never_overwritten(store: Store) -> None:
    assert await store.weeks.add(WEEK)
    assert not await store.weeks.add(replace(WEEK, basis="other"))
    assert await store.weeks.get("2026-W47", 1) == WEEK


async def test_a_revision_is_confirmed_for_another_basis(store: Store, other_store: Store) -> None:
    assert await store.weeks.add(WEEK)
    await store.weeks.confirm(replace(WEEK, basis="later", body={"id": "other"}))
    assert await other_store.weeks.get("2026-W47") == replace(WEEK, basis="later")
    await store.weeks.confirm(replace(WEEK, revision=2))
    assert await store.weeks.get("2026-W47", 2) is None


async def test_the_newest_revision_is_the_highest_number(store: Store, other_store: Store) -> None:
    for revision in range(1, 13):
        assert await store.weeks.add(replace(WEEK, revision=revision))
        newest = await other_store.weeks.get("2026-W47")
        assert newest is not None and newest.revision == revision
    assert await store.weeks.get("2026-W47", 3) == replace(WEEK, revision=3)


async def test_of_many_additions_of_a_revision_at_once_one_succeeds(store: Store, other_store: Store) -> None:
    weeks = [replace(WEEK, basis=f"b{n}") for n in range(10)]
    stores = (store, other_store)
    added = await asyncio.gather(*(stores[n % 2].weeks.add(week) for n, week in enumerate(weeks)))
    assert added.count(True) == 1
    assert await store.weeks.get("2026-W47") == weeks[added.index(True)]


async def test_a_large_week_is_kept(store: Store) -> None:
    week = replace(WEEK, body={"items": [{"text": "x" * 200, "n": n} for n in range(2_000)]})
    assert await store.weeks.add(week)
    assert await store.weeks.get("2026-W47") == week
