"""Blocked domains: kept, and known at once to every process."""

from __future__ import annotations

from intel.store.port import Store
from tests.contract.store.builders import hour


async def test_a_blocked_domain_is_known_at_once_everywhere(store: Store, other_store: Store) -> None:
    assert not await other_store.domains.any_blocked(["evil.example"])
    assert await store.domains.block("evil.example", hour(1))
    assert await other_store.domains.any_blocked(["www.evil.example", "evil.example", "example"])
    assert not await other_store.domains.any_blocked(["notevil.example", "example"])
    assert not await other_store.domains.block("evil.example", hour(2))
    await store.domains.block("bad.example", hour(3))
    assert list((await other_store.domains.blocked()).items()) == [("bad.example", hour(3)), ("evil.example", hour(1))]
    assert await other_store.domains.unblock("evil.example")
    assert not await store.domains.unblock("evil.example")
    assert not await store.domains.any_blocked(["evil.example"])
