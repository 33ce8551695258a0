"""Accounts, five key slots each, and sessions."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from intel.errors import AccountExists, NotFound
from intel.records import KEYS_PER_ACCOUNT, Account, ApiKey, Session
from intel.store.port import Store
from tests.contract.store.builders import hour


def make_account(name: str = "one") -> Account:
    return Account(id=f"account-{name}", email=f"{name}@site.example", password_hash="hash", created_at=hour(0))


def make_key(slot: int = 0, digest: str = "secret", account_id: str = "account-one") -> ApiKey:
    return ApiKey(account_id, slot, f"key {slot}", digest, hour(1))


def make_session(name: str = "one", *, at: float = 0, account_id: str = "account-one") -> Session:
    return Session(f"session-{name}", account_id, 0, hour(at), hour(at), hour(at + 24), "Mozilla/5.0 \u202e<b>")


async def test_an_account_is_read_back_whole(store: Store, other_store: Store) -> None:
    account = make_account()
    made = await store.accounts.create(account)
    assert made == replace(account, role="administrator")
    assert await other_store.accounts.get(account.id) == made
    assert await store.accounts.get("unknown") is None


async def test_what_is_kept_of_two_factor_codes_is_read_back(store: Store, other_store: Store) -> None:
    kept = {"secret": "sealed", "step": 59_000_000, "recovery": ["a", "b"]}
    made = await store.accounts.create(replace(make_account(), two_factor=kept))
    assert await other_store.accounts.get(made.id) == made and made.two_factor == kept
    await store.accounts.update(replace(made, two_factor=kept | {"recovery": ["b"]}))
    assert (await other_store.accounts.all())[0].two_factor["recovery"] == ["b"]


async def test_a_taken_id_is_refused_and_the_account_kept(store: Store) -> None:
    made = await store.accounts.create(make_account())
    with pytest.raises(AccountExists):
        await store.accounts.create(replace(make_account(), password_hash="other"))
    assert await store.accounts.get("account-one") == made


async def test_of_many_sign_ups_at_once_one_succeeds(store: Store, other_store: Store) -> None:
    stores = (store, other_store)
    accounts = [replace(make_account(), password_hash=f"hash {n}") for n in range(12)]
    creating = (stores[n % 2].accounts.create(account) for n, account in enumerate(accounts))
    results = await asyncio.gather(*creating, return_exceptions=True)
    (made,) = [result for result in results if isinstance(result, Account)]
    assert sum(isinstance(result, AccountExists) for result in results) == 11
    assert await store.accounts.get("account-one") == made
    assert made.password_hash in [account.password_hash for account in accounts]


@pytest.mark.promise("accounts.roles")
async def test_of_many_first_sign_ups_at_once_exactly_one_becomes_the_administrator(
    store: Store, other_store: Store
) -> None:
    stores = (store, other_store)
    creating = (stores[n % 2].accounts.create(make_account(str(n))) for n in range(12))
    made = await asyncio.gather(*creating)
    kept = await store.accounts.all()
    assert [one.role for one in kept].count("administrator") == 1
    assert [one.role for one in kept].count("submitter") == 11
    assert {one.id for one in made} == {one.id for one in kept}


@pytest.mark.promise("accounts.roles")
async def test_only_the_first_account_of_all_is_appointed(store: Store, other_store: Store) -> None:
    first = await store.accounts.create(make_account("first"))
    await store.accounts.update(replace(first, role="reader"))
    second = await other_store.accounts.create(replace(make_account("second"), role="reader"))
    await other_store.setup()
    assert [account.role for account in await store.accounts.all()] == ["reader", "reader"]
    assert second.role == "reader"


async def test_an_account_is_replaced(store: Store, other_store: Store) -> None:
    await store.accounts.create(make_account())
    changed = replace(make_account(), password_hash="new", session_epoch=4, disabled_at=hour(9))
    await store.accounts.update(changed)
    assert await other_store.accounts.get("account-one") == changed
    with pytest.raises(NotFound):
        await store.accounts.update(make_account("unknown"))
    assert await store.accounts.get("account-unknown") is None


async def test_all_accounts_come_by_email_address(store: Store) -> None:
    for name in ("b", "c", "a"):
        await store.accounts.create(make_account(name))
    assert [account.email for account in await store.accounts.all()] == [f"{name}@site.example" for name in "abc"]


async def test_a_key_is_read_back_whole(store: Store, other_store: Store) -> None:
    assert await store.accounts.add_key(make_key(2))
    assert await other_store.accounts.get_key("account-one", 2) == make_key(2)
    assert await store.accounts.get_key("account-one", 1) is None
    assert await store.accounts.get_key("account-two", 2) is None
    assert await store.accounts.keys("account-two") == ()


async def test_a_key_is_read_together_with_its_account(store: Store, other_store: Store) -> None:
    account = await store.accounts.create(make_account())
    assert await other_store.accounts.key_and_account("account-one", 0, "secret") == (None, account)
    assert await store.accounts.add_key(make_key())
    assert await other_store.accounts.key_and_account("account-one", 0, "secret") == (make_key(), account)
    await store.accounts.remove("account-one")
    assert await store.accounts.key_and_account("account-one", 0, "secret") == (None, None)


@pytest.mark.promise("keys.revoked-within-a-second")
async def test_what_one_process_changes_of_a_key_and_its_account_holds_there_at_once(store: Store) -> None:
    account = await store.accounts.create(make_account())

    async def holder() -> tuple[ApiKey | None, Account | None]:
        return await store.accounts.key_and_account("account-one", 0, "secret")

    assert await store.accounts.add_key(make_key())
    assert await holder() == (make_key(), account)
    await store.accounts.touch_key(make_key(), hour(1))
    assert await holder() == (replace(make_key(), last_used_at=hour(1)), account)
    await store.accounts.update(replace(account, role="reader"))
    assert (await holder())[1] == replace(account, role="reader")
    assert await store.accounts.revoke_key("account-one", 0, "secret", hour(2))
    revoked, _ = await holder()
    assert revoked and revoked.revoked_at == hour(2)
    await store.accounts.update(replace(account, disabled_at=hour(2)))
    assert (await holder())[1] == replace(account, disabled_at=hour(2))


@pytest.mark.promise("keys.revoked-within-a-second")
async def test_what_another_process_changes_of_a_key_holds_within_a_second(store: Store, other_store: Store) -> None:
    account = await store.accounts.create(make_account())
    assert await store.accounts.add_key(make_key())
    assert await other_store.accounts.key_and_account("account-one", 0, "secret") == (make_key(), account)
    assert await store.accounts.revoke_key("account-one", 0, "secret", hour(2))
    late, is_late = time.monotonic() + 1, False
    while (await other_store.accounts.key_and_account("account-one", 0, "secret"))[0] == make_key():
        # However slow the machine is, what is asked after that second must not be told of the live key.
        assert not is_late
        is_late = time.monotonic() > late
        await asyncio.sleep(0.01)
    # What comes into the slot of a revoked key is read at once, and so is an account that is enabled again.
    await store.accounts.update(replace(account, disabled_at=hour(2)))
    assert (await other_store.accounts.key_and_account("account-one", 0, "another"))[1] != account
    await store.accounts.update(account)
    another = make_key(digest="another")
    assert await store.accounts.add_key(another)
    assert await other_store.accounts.key_and_account("account-one", 0, "another") == (another, account)


async def test_a_key_keeps_its_scopes_and_its_end_and_makes_room_from_then_on(store: Store) -> None:
    short = replace(make_key(), expires_at=hour(3), scopes=("read", "export"))
    assert await store.accounts.add_key(short)
    assert await store.accounts.get_key("account-one", 0) == short
    assert not await store.accounts.add_key(replace(make_key(digest="early"), created_at=hour(2)))
    late = replace(make_key(digest="late"), created_at=hour(3))
    assert await store.accounts.add_key(late)
    assert await store.accounts.keys("account-one") == (late,)


async def test_the_live_keys_come_by_slot(store: Store) -> None:
    for slot in (3, 0, 4):
        assert await store.accounts.add_key(make_key(slot))
    assert await store.accounts.revoke_key("account-one", 0, "secret", hour(2))
    assert await store.accounts.keys("account-one") == (make_key(3), make_key(4))


async def test_a_slot_with_a_live_key_is_taken(store: Store) -> None:
    assert await store.accounts.add_key(make_key())
    assert not await store.accounts.add_key(make_key(digest="other"))
    assert await store.accounts.get_key("account-one", 0) == make_key()
    assert await store.accounts.add_key(make_key(account_id="account-two"))


async def test_a_revoked_key_stays_readable_and_frees_its_slot(store: Store, other_store: Store) -> None:
    await store.accounts.add_key(make_key())
    assert not await store.accounts.revoke_key("account-one", 0, "another secret", hour(2))
    assert not await store.accounts.revoke_key("account-one", 1, "secret", hour(2))
    assert await store.accounts.revoke_key("account-one", 0, "secret", hour(2))
    assert await other_store.accounts.get_key("account-one", 0) == replace(make_key(), revoked_at=hour(2))
    assert not await store.accounts.revoke_key("account-one", 0, "secret", hour(3))
    assert await store.accounts.add_key(make_key(digest="new"))
    assert not await store.accounts.revoke_key("account-one", 0, "secret", hour(4))
    assert await store.accounts.get_key("account-one", 0) == make_key(digest="new")


async def test_the_use_of_a_live_key_is_noted(store: Store) -> None:
    await store.accounts.add_key(make_key())
    await store.accounts.touch_key(make_key(), hour(5))
    used = replace(make_key(), last_used_at=hour(5))
    assert await store.accounts.get_key("account-one", 0) == used
    await store.accounts.touch_key(make_key(1), hour(5))
    assert await store.accounts.get_key("account-one", 1) is None


async def test_a_late_note_of_use_revives_no_key(store: Store) -> None:
    await store.accounts.add_key(make_key())
    await store.accounts.revoke_key("account-one", 0, "secret", hour(2))
    await store.accounts.touch_key(make_key(), hour(5))
    assert await store.accounts.get_key("account-one", 0) == replace(make_key(), revoked_at=hour(2))
    await store.accounts.add_key(make_key(digest="new"))
    await store.accounts.touch_key(make_key(), hour(6))
    assert await store.accounts.get_key("account-one", 0) == make_key(digest="new")


@pytest.mark.promise("limits.account.five-keys")
async def test_of_many_keys_at_once_exactly_five_are_live(store: Store, other_store: Store) -> None:
    async def take_a_slot(n: int) -> bool:
        accounts = (store, other_store)[n % 2].accounts
        for slot in range(KEYS_PER_ACCOUNT):
            if await accounts.add_key(make_key(slot, f"secret {n}")):
                return True
        return False

    taken = await asyncio.gather(*map(take_a_slot, range(24)))
    assert taken.count(True) == 5
    live = await store.accounts.keys("account-one")
    assert [key.slot for key in live] == [0, 1, 2, 3, 4]
    assert {key.secret_hash for key in live} == {f"secret {n}" for n, got in enumerate(taken) if got}


async def test_of_many_keys_for_a_freed_slot_one_gets_it(store: Store, other_store: Store) -> None:
    await store.accounts.add_key(make_key())
    await store.accounts.revoke_key("account-one", 0, "secret", hour(2))
    stores = (store, other_store)
    adding = (stores[n % 2].accounts.add_key(make_key(digest=f"s{n}")) for n in range(16))
    taken = await asyncio.gather(*adding)
    assert taken.count(True) == 1
    assert (await store.accounts.keys("account-one"))[0].secret_hash == f"s{taken.index(True)}"


async def test_of_many_revocations_one_succeeds(store: Store, other_store: Store) -> None:
    await store.accounts.add_key(make_key())
    stores = (store, other_store)
    revoking = (stores[n % 2].accounts.revoke_key("account-one", 0, "secret", hour(n)) for n in range(10))
    assert (await asyncio.gather(*revoking)).count(True) == 1


async def test_a_session_lives_until_it_is_ended(store: Store, other_store: Store) -> None:
    session = make_session()
    await store.accounts.put_session(session)
    assert await other_store.accounts.get_session(session.id) == session
    later = replace(session, last_used_at=hour(3), expires_at=hour(99))
    await store.accounts.put_session(later)
    assert await other_store.accounts.get_session(session.id) == later
    await store.accounts.end_session(session.id)
    assert await other_store.accounts.get_session(session.id) is None
    await store.accounts.end_session(session.id)


async def test_the_sessions_of_an_account_come_newest_first(store: Store) -> None:
    for name, at in (("old", 1), ("new", 3), ("middle", 2)):
        await store.accounts.put_session(make_session(name, at=at))
    await store.accounts.put_session(make_session("foreign", at=4, account_id="account-two"))
    found = await store.accounts.sessions("account-one")
    assert [session.id for session in found] == ["session-new", "session-middle", "session-old"]
    assert await store.accounts.sessions("account-three") == ()


async def test_the_use_of_a_session_is_noted(store: Store, other_store: Store) -> None:
    await store.accounts.put_session(make_session())
    assert await other_store.accounts.touch_session("session-one", hour(5))
    used = replace(make_session(), last_used_at=hour(5))
    assert await store.accounts.get_session("session-one") == used
    assert await store.accounts.sessions("account-one") == (used,)


async def test_a_late_note_of_use_revives_no_session(store: Store, other_store: Store) -> None:
    assert not await store.accounts.touch_session("session-one", hour(1))
    await store.accounts.put_session(make_session())
    await store.accounts.end_session("session-one")
    assert not await other_store.accounts.touch_session("session-one", hour(5))
    assert await store.accounts.get_session("session-one") is None
    assert await store.accounts.sessions("account-one") == ()


async def test_a_session_that_ends_while_many_use_it_stays_ended(store: Store, other_store: Store) -> None:
    stores = (store, other_store)
    for n in range(5):
        await store.accounts.put_session(make_session())
        touching = [stores[m % 2].accounts.touch_session("session-one", hour(m)) for m in range(20)]
        await asyncio.gather(*touching[:10], stores[n % 2].accounts.end_session("session-one"), *touching[10:])
        assert await store.accounts.get_session("session-one") is None
        assert await store.accounts.sessions("account-one") == ()


async def test_a_holder_is_read_anew_however_often_it_was_read(store: Store) -> None:
    await store.accounts.create(make_account())
    assert await store.accounts.add_key(make_key())
    for number in range(3):
        used = replace(make_key(), last_used_at=hour(number))
        await store.accounts.touch_key(make_key(), hour(number))
        for _ in range(2):
            assert (await store.accounts.key_and_account("account-one", 0, "secret"))[0] == used
