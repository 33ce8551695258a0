"""By which lists indicators are marked, as answers are told."""

from __future__ import annotations

import asyncio
import time

from intel.store.marks import Marking
from intel.store.port import Store
from tests.contract.store.builders import hour
from tests.contract.store.test_catalogues import make_catalogue

NAME = "exploited"


async def test_what_one_process_changes_of_it_holds_there_at_once(store: Store) -> None:
    assert await store.marking(NAME) == Marking(None, "")
    await store.catalogues.put(make_catalogue(NAME), {"a": b"1"})
    assert await store.marking(NAME) == Marking(hour(1.5), "")
    await store.marks.settle("these lists")
    assert await store.marking(NAME) == Marking(hour(1.5), "these lists")


async def test_what_another_process_changes_of_it_holds_within_a_second(store: Store, other_store: Store) -> None:
    assert await other_store.marking(NAME) == Marking(None, "")
    await store.catalogues.put(make_catalogue(NAME), {"a": b"1"})
    await store.marks.settle("these lists")
    # Whoever marks by them is told of them at once.
    assert (await other_store.catalogues.imported_at(NAME), await other_store.marks.basis()) == (
        hour(1.5),
        "these lists",
    )
    late, is_late = time.monotonic() + 1, False
    while await other_store.marking(NAME) != Marking(hour(1.5), "these lists"):
        # However slow the machine is, what is asked after that second must be told of it.
        assert not is_late
        is_late = time.monotonic() > late
        await asyncio.sleep(0.01)
