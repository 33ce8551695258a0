"""Passwords: argon2id, and the same work for whoever has no account."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest

from api.accounts.password_strength import check_password
from api.accounts.passwords import Passwords
from intel.errors import InvalidQuery, StoreUnavailable
from tests.api.running import PASSWORD
from tests.cases import each


@pytest.mark.promise("accounts.argon2id")
async def test_a_password_is_kept_as_argon2id_and_recognised() -> None:
    passwords = Passwords()
    hashed = await passwords.hash(PASSWORD, EMAIL)
    assert hashed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert PASSWORD not in hashed
    assert hashed != await passwords.hash(PASSWORD, EMAIL)
    assert await passwords.matches(PASSWORD, hashed)


@pytest.mark.promise("accounts.argon2id")
async def test_another_password_no_hash_and_a_damaged_hash_do_not_match() -> None:
    passwords = Passwords()
    hashed = await passwords.hash(PASSWORD, EMAIL)
    for password, against in (
        (PASSWORD + " ", hashed),
        ("", hashed),
        (PASSWORD, None),
        (PASSWORD, "x"),
        (PASSWORD, ""),
    ):
        assert not await passwords.matches(password, against)
    assert not await passwords.matches("nobody has this password", None)


@pytest.mark.slow
async def test_an_unknown_user_costs_the_work_of_a_known_one() -> None:
    passwords = Passwords()
    hashed = await passwords.hash(PASSWORD, EMAIL)
    known, unknown = [await cost(passwords, against) for against in (hashed, None)]
    assert known / 2 < unknown < known * 2


async def cost(passwords: Passwords, against: str | None) -> float:
    """The CPU seconds of a check, at their least."""
    seconds = []
    for _ in range(5):
        before = time.process_time()
        await passwords.matches("wrong", against)
        seconds.append(time.process_time() - before)
    return min(seconds)


EMAIL = "mallory.keene@kestrel-research.example"


@pytest.mark.promise("accounts.weak-passwords")
@each(
    "password",
    [
        "123456789012", "098765432109", "abcdefghijkl", "qwertyuiop12", "passwordpassword", "Passw0rd2026!",
        "abcabcabcabc", "123123123123", "letmein12345", "1q2w3e4r5t6y", "kestrel-research", "mallorykeene1",
        "mallory.keene1990", "Mallory.Keene@Kestrel-Research.Example", "keenemallory1", "ioc-intelligence",
        "IOC Intelligence", "iocintelligence1", "aaaaaaaaaaaaaaaaaaaaaaaab", "monkeymonkey12",
    ],
)  # fmt: skip
async def test_a_password_that_is_easy_to_guess_is_refused_in_plain_words(password: str) -> None:
    with pytest.raises(InvalidQuery, match="must not be easy to guess") as caught:
        await Passwords().hash(password, EMAIL)
    assert password not in str(caught.value)


@pytest.mark.promise("accounts.weak-passwords")
@each(
    "password", ["correct horse battery staple", "tR4!vq9#Lm2x", "мой кот ест рыбу по ночам", "nine lamps under glass"]
)
async def test_a_good_password_is_taken(password: str) -> None:
    assert await Passwords().hash(password, EMAIL)


@pytest.mark.slow
async def test_more_people_than_can_be_served_soon_are_sent_away() -> None:
    passwords = Passwords()
    tries = await asyncio.gather(*(passwords.matches(PASSWORD, None) for _ in range(130)), return_exceptions=True)
    assert (tries.count(False), sum(isinstance(one, StoreUnavailable) for one in tries)) == (100, 30)


@each("password", ["", "short", "a" * 11, "a" * 12, "abababababab", "é" * 257])
async def test_a_weak_or_endless_password_is_refused(password: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        await Passwords().hash(password, EMAIL)
    assert caught.value.field == "password"
    assert password == "" or password not in str(caught.value)


async def test_nothing_is_cut_off_a_password() -> None:
    passwords = Passwords()
    longest = "correct horse battery staple in rows of " * 6 + "sixteen letters!"
    hashed = await passwords.hash(longest, EMAIL)
    assert await passwords.matches(longest, hashed)
    assert not await passwords.matches(longest + "x", hashed)


async def test_any_character_may_stand_in_a_password() -> None:
    passwords = Passwords()
    for password in (
        "пароль из слов",
        "\0\x01 controls \x02\x03",
        "🙂🙃🙂🙃 smile with me",
        "\ud83d broken surrogate",
    ):
        assert await passwords.matches(password, await passwords.hash(password, EMAIL)), repr(password)


@each("signs", ["4@8({[<369&#!1/\\|0$5+7%2", "p@5sw0rd1", "4836910572abegilosztx", "a"])
def test_judging_a_password_takes_a_moment_whatever_it_is(signs: str) -> None:
    before = time.process_time()
    with contextlib.suppress(InvalidQuery):
        check_password((signs * 256)[:256], EMAIL)
    assert time.process_time() - before < 1
