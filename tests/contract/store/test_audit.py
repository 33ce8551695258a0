"""Who did what, newest first, and bounded."""

from __future__ import annotations

import pytest

from intel.audit import AuditEntry
from intel.store.port import Store
from tests.contract.store.builders import hour


def entry(number: int, detail: str = "") -> AuditEntry:
    return AuditEntry(f"{number:04}-x", hour(number), "you@site.example", "feed.added", "<b>\u202e", detail)


@pytest.mark.promise("admin.audit")
async def test_entries_come_back_whole_newest_first_page_by_page(store: Store, other_store: Store) -> None:
    for number in (2, 0, 3, 1):
        await store.audit.add(entry(number, "x" * number))
    await store.audit.add(entry(3, "again"))
    first = await other_store.audit.newest(3)
    assert list(first) == [entry(3, "xxx"), entry(2, "xx"), entry(1, "x")]
    assert list(await other_store.audit.newest(3, first[-1].id)) == [entry(0)]


@pytest.mark.promise("admin.audit")
async def test_the_oldest_beyond_the_bound_go(store: Store) -> None:
    for number in range(6):
        await store.audit.add(entry(number), most_kept=4)
    assert [one.id for one in await store.audit.newest(10)] == [entry(number).id for number in (5, 4, 3, 2)]
