"""The part of the store that keeps the domains whose pages are refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol


class Domains(Protocol):
    """Domains whose pages an administrator refuses, by their canonical names. Read at once by every process."""

    async def block(self, domain: str, now: datetime) -> bool:
        """Block a domain; False where it is blocked already."""

    async def unblock(self, domain: str) -> bool:
        """Block a domain no more; False where it is not blocked."""

    async def blocked(self) -> dict[str, datetime]:
        """Return the blocked domains by name, each with when it was blocked."""

    async def any_blocked(self, domains: Sequence[str]) -> bool:
        """Return whether any of these very domains (at most 200) is blocked."""
