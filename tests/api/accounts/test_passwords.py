"""Passwords: argon2id, and the same work for whoever has no account."""

from __future__ import annotations

import pytest

from api.accounts.passwords import Passwords
from intel.errors import InvalidQuery
from tests.api.running import PASSWORD


@pytest.mark.promise("accounts.argon2id")
async def test_a_password_is_kept_as_argon2id_and_recognised() -> None:
    passwords = Passwords()
    hashed = await passwords.hash(PASSWORD)
    assert hashed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert PASSWORD not in hashed
    assert hashed != await passwords.hash(PASSWORD)
    assert await passwords.matches(PASSWORD, hashed)


@pytest.mark.promise("accounts.argon2id")
async def test_another_password_no_hash_and_a_damaged_hash_do_not_match() -> None:
    passwords = Passwords()
    hashed = await passwords.hash(PASSWORD)
    for password, against in (
        (PASSWORD + " ", hashed),
        ("", hashed),
        (PASSWORD, None),
        (PASSWORD, "x"),
        (PASSWORD, ""),
    ):
        assert not await passwords.matches(password, against)
    assert not await passwords.matches("nobody has this password", None)


@pytest.mark.parametrize("password", ["", "short", "a" * 11, "a" * 12, "abababababab", "é" * 257])
async def test_a_weak_or_endless_password_is_refused(password: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        await Passwords().hash(password)
    assert caught.value.field == "password"
    assert password == "" or password not in str(caught.value)


async def test_nothing_is_cut_off_a_password() -> None:
    passwords = Passwords()
    longest = "correct " * 32
    hashed = await passwords.hash(longest)
    assert await passwords.matches(longest, hashed)
    assert not await passwords.matches(longest + "x", hashed)


async def test_any_character_may_stand_in_a_password() -> None:
    passwords = Passwords()
    for password in ("пароль из слов", "\0\x01\x02\x03" * 4, "🙂🙃🙂🙃 smile with me", "\ud83d broken surrogate"):
        assert await passwords.matches(password, await passwords.hash(password)), repr(password)
