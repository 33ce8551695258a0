"""The part of the store that keeps votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from intel.records import Vote


class Votes(Protocol):
    """Which accounts call which indicators false positives: one vote each."""

    async def put(self, vote: Vote) -> None:
        """Store or replace an account's vote."""

    async def withdraw(self, ioc_id: str, account_id: str) -> bool:
        """Delete an account's vote; False where there is none."""

    async def counts(self, ioc_ids: Sequence[str]) -> dict[str, int]:
        """Return how many votes there are on each of the given indicators (at most 1,000); those without any are left
        out.
        """

    async def of(self, ioc_id: str) -> tuple[Vote, ...]:
        """Return the votes on an indicator, oldest first, then by account; at most 1,000."""
