"""API keys: made, checked, revoked; at most five."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from api.accounts.keys import Keys, NewKey, key_prefix
from intel.errors import KeyLimitReached
from intel.ids import account_id
from intel.records import Account
from intel.store import Store
from intel.store.sqlite.store import SqliteStore
from tests.api.running import NOON, Clock
from tests.stores import lay_store

ACCOUNT = account_id("analyst@example.org")


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = SqliteStore(lay_store(tmp_path / "store.db"))
    await opened.setup()
    await opened.accounts.create(Account(ACCOUNT, "analyst@example.org", "hash", NOON))
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def keys(store: Store) -> Keys:
    return Keys(store, Clock())


@pytest.mark.promise("keys.form")
async def test_a_key_has_the_published_form_and_stands_for_its_account(keys: Keys) -> None:
    new = await keys.create(ACCOUNT, "laptop")
    head, id, secret = new.secret.split("_")
    assert (head, id[:16], len(secret)) == ("ioc", ACCOUNT, 43 + 6)
    identity = await keys.authenticate(new.secret)
    assert identity is not None and identity.account_id == ACCOUNT
    assert new.secret.startswith(key_prefix(new.record)[:-1])


@pytest.mark.promise("keys.hash-only", "keys.shown-once")
async def test_only_a_hash_is_kept_and_no_representation_shows_the_secret(keys: Keys, tmp_path: Path) -> None:
    new = await keys.create(ACCOUNT, "laptop")
    secret = new.secret.split("_")[2]
    assert secret not in repr(new) + str(new) + repr(new.record)
    assert secret not in key_prefix(new.record)
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes(), file


@pytest.mark.promise("keys.form")
async def test_a_mistyped_key_is_refused(keys: Keys) -> None:
    secret = (await keys.create(ACCOUNT, "laptop")).secret
    swapped = secret[:-7] + ("A" if secret[-7] != "A" else "B") + secret[-6:]
    for wrong in (swapped, secret[:-1], secret + "A", secret.upper(), secret.lower(), f" {secret}", f"{secret}\n", ""):
        assert wrong == secret or await keys.authenticate(wrong) is None, wrong


@pytest.mark.promise("keys.form")
async def test_a_well_formed_key_with_another_secret_is_refused(keys: Keys) -> None:
    first = await keys.create(ACCOUNT, "laptop")
    assert await keys.revoke(first.record)
    second = await keys.create(ACCOUNT, "laptop")
    assert second.record.slot == first.record.slot
    assert await keys.authenticate(first.secret) is None
    assert await keys.authenticate(second.secret) is not None


@pytest.mark.promise("keys.revoked-within-a-second")
async def test_a_revoked_key_is_refused_by_another_process_at_once(keys: Keys, tmp_path: Path) -> None:
    new = await keys.create(ACCOUNT, "laptop")
    other = SqliteStore(tmp_path / "store.db")
    try:
        elsewhere = Keys(other, Clock())
        assert await elsewhere.authenticate(new.secret) is not None
        assert await keys.revoke(new.record)
        assert await elsewhere.authenticate(new.secret) is None
        assert not await elsewhere.revoke(new.record)
    finally:
        await other.close()


@pytest.mark.promise("limits.account.five-keys")
async def test_five_keys_are_given_and_no_sixth_however_many_ask_at_once(keys: Keys) -> None:
    made = await asyncio.gather(*(keys.create(ACCOUNT, f"key {n}") for n in range(12)), return_exceptions=True)
    given = [new for new in made if isinstance(new, NewKey)]
    refused = [error for error in made if isinstance(error, KeyLimitReached)]
    assert (len(given), len(refused)) == (5, 7)
    assert len({new.record.slot for new in given}) == 5
    assert await keys.revoke(given[2].record)
    assert (await keys.create(ACCOUNT, "again")).record.slot == given[2].record.slot


@pytest.mark.promise("keys.form")
async def test_a_disabled_accounts_keys_are_refused(keys: Keys, store: Store) -> None:
    new = await keys.create(ACCOUNT, "laptop")
    await store.accounts.update(Account(ACCOUNT, "analyst@example.org", "hash", NOON, disabled_at=NOON))
    assert await keys.authenticate(new.secret) is None


@pytest.mark.promise("keys.last-used")
async def test_use_is_noted_once_a_minute(store: Store) -> None:
    clock = Clock()
    keys = Keys(store, clock)
    new = await keys.create(ACCOUNT, "laptop")

    async def last_used() -> object:
        found = await store.accounts.get_key(ACCOUNT, new.record.slot)
        assert found is not None
        await keys.authenticate(new.secret)
        found = await store.accounts.get_key(ACCOUNT, new.record.slot)
        return found and found.last_used_at

    assert await last_used() == NOON
    clock.forward(59)
    assert await last_used() == NOON
    clock.forward(1)
    assert await last_used() == clock.now
