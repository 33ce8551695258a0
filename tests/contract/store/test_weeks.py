"""Weekly roundups are kept revision by revision."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from intel.records import Week
from intel.store.port import Store
from intel.store.taking_back import TAKEN_BACK
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


async def test_what_was_told_since_a_time_is_taken_back_of_all_weeks_and_its_numbers_stay_taken(
    store: Store, other_store: Store
) -> None:
    kept = replace(WEEK, generated_at=hour(4))
    gone = [replace(WEEK, revision=2, generated_at=hour(5)), replace(WEEK, id="2026-W46", generated_at=hour(9))]
    for week in (kept, *gone):
        assert await store.weeks.add(week)
    for _ in range(2):
        await other_store.weeks.take_back(hour(5))
        assert await store.weeks.get(kept.id, 1) == kept
        for week in gone:
            assert await store.weeks.get(week.id, week.revision) == replace(week, basis=TAKEN_BACK, body={})
            assert not await store.weeks.add(week)
    assert await store.weeks.bases(kept.id) == {2: TAKEN_BACK, 1: "basis"}
    assert await store.weeks.bases("2026-W45") == {}


async def test_more_revisions_are_taken_back_than_an_engine_changes_at_once(store: Store) -> None:
    weeks = [replace(WEEK, revision=number, generated_at=hour(number)) for number in range(1, 206)]
    await asyncio.gather(*map(store.weeks.add, weeks))
    await store.weeks.take_back(hour(2))
    bases = await store.weeks.bases(WEEK.id)
    assert list(bases) == [*range(205, 0, -1)]
    assert [number for number, basis in bases.items() if basis != TAKEN_BACK] == [1]
