"""Files that were handed in are kept whole, within bounds, until they are deleted."""

from __future__ import annotations

import pytest

from intel.errors import AccountQueueFull, QueueFull
from intel.records import HandedFile
from intel.store.port import Store
from intel.store.waiting import FileBounds
from tests.contract.store.builders import hour


def make_file(id: str, size: int = 5, *, account: str = "account-1", at: float = 0) -> HandedFile:
    return HandedFile(id, account, f"submission-{id}", size, hour(at))


async def test_a_file_is_kept_whole_until_it_is_deleted(store: Store, other_store: Store) -> None:
    body = bytes(range(256)) * 8_000
    await store.files.put(make_file("one", len(body)), body)
    assert await other_store.files.get("one") == body
    assert await store.files.get("unknown") is None
    await other_store.files.remove("one")
    await other_store.files.remove("one")
    assert await store.files.get("one") is None
    assert await store.files.before(hour(9), 10) == ()


async def test_files_are_bounded_in_bytes_of_an_account_and_in_all(store: Store, other_store: Store) -> None:
    bounds = FileBounds(in_all=20, of_account=12)
    await store.files.put(make_file("one"), b"12345", bounds)
    await store.files.put(make_file("two"), b"12345", bounds)
    with pytest.raises(AccountQueueFull):
        await other_store.files.put(make_file("three"), b"12345", bounds)
    await store.files.put(make_file("four", account="account-2"), b"12345", bounds)
    with pytest.raises(QueueFull):
        await other_store.files.put(make_file("five", 6, account="account-3"), b"123456", bounds)
    await store.files.remove("one")
    await other_store.files.put(make_file("three"), b"12345", bounds)
    assert await store.files.get("three") == b"12345"


async def test_old_files_are_found_oldest_first(store: Store) -> None:
    files = [make_file(id, at=at) for id, at in (("c", 2), ("b", 1), ("a", 1), ("d", 3))]
    for file in files:
        await store.files.put(file, b"12345")
    assert await store.files.before(hour(3), 10) == (files[2], files[1], files[0])
    assert await store.files.before(hour(3), 2) == (files[2], files[1])
