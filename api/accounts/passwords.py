"""Passwords: the one file that knows argon2."""

from __future__ import annotations

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from intel.errors import InvalidQuery

SHORTEST, LONGEST = 12, 256
# Each hash takes 19 MiB: this many at once bound what sign-ins can take of the memory.
_AT_ONCE = 2


class Passwords:
    """Hashes and checks passwords with argon2id (19 MiB, 2 passes), a few at a time, off the event loop."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._nobody = self._hasher.hash("nobody has this password")

    async def hash(self, password: str) -> str:
        """The hash of a password. InvalidQuery where it is shorter than 12 or longer than 256 characters."""
        check_password(password)
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, _bytes(password))

    async def matches(self, password: str, hashed: str | None) -> bool:
        """Whether it is the password; without a hash (an unknown user) it takes as long and is False."""
        async with self._slots:
            known = hashed if len(password) <= LONGEST else None
            return await asyncio.to_thread(self._verify, password[:LONGEST], known)

    def _verify(self, password: str, hashed: str | None) -> bool:
        try:
            return self._hasher.verify(hashed or self._nobody, _bytes(password)) and hashed is not None
        except (Argon2Error, InvalidHashError):
            return False


def check_password(password: str) -> None:
    """Raises InvalidQuery with what is wrong with a new password."""
    if len(password) < SHORTEST:
        raise InvalidQuery("password", f"must have at least {SHORTEST} characters")
    if len(password) > LONGEST:
        raise InvalidQuery("password", f"must have at most {LONGEST} characters")
    if len(set(password)) < 4:
        raise InvalidQuery("password", "must not be the same few characters again and again")


def _bytes(password: str) -> bytes:
    """Whatever was typed, broken characters too, has one spelling."""
    return password.encode("utf-8", "surrogatepass")
