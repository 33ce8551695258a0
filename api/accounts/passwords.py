"""Passwords: the one file that knows argon2."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from api.accounts.password_strength import LONGEST, check_password
from intel.errors import StoreUnavailable

T = TypeVar("T")
# Each hash takes 19 MiB: this many at once bound what sign-ins can take of the memory.
_AT_ONCE = 2
# Who comes when this many wait already is sent away: they would wait for seconds.
_MOST_WAITING = 100
# An argon2id hash of the same cost, of zeros: no password has it.
_NO_PASSWORD = f"$argon2id$v=19$m=19456,t=2,p=1${'A' * 22}${'A' * 43}"


class Passwords:
    """Hashes and checks passwords with argon2id (19 MiB, 2 passes), a few at a time, off the event loop."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0

    async def hash(self, password: str, email: str) -> str:
        """Return the hash of a new password. InvalidQuery where it is too short, too long or easy to guess."""
        return await self._in_turn(lambda: self._checked_hash(password, email))

    async def matches(self, password: str, hashed: str | None) -> bool:
        """Say whether it is the password; without a hash (an unknown user) it takes as long and is False."""
        known = hashed if len(password) <= LONGEST else None
        return await self._in_turn(lambda: self._verify(password[:LONGEST], known))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        if self._waiting >= _MOST_WAITING:
            raise StoreUnavailable("too many people are signing in at this moment")
        self._waiting += 1
        try:
            async with self._slots:
                return await asyncio.to_thread(work)
        finally:
            self._waiting -= 1

    def _checked_hash(self, password: str, email: str) -> str:
        check_password(password, email)
        return self._hasher.hash(_bytes(password))

    def _verify(self, password: str, hashed: str | None) -> bool:
        try:
            return self._hasher.verify(hashed or _NO_PASSWORD, _bytes(password)) and hashed is not None
        except (Argon2Error, InvalidHashError):
            return False


def _bytes(password: str) -> bytes:
    """Return the one spelling of whatever was typed, broken characters too."""
    return password.encode("utf-8", "surrogatepass")
