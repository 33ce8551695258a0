"""The part of the store that keeps what readers call wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from intel.feedback import Feedback

MOST_OF_AN_ARTICLE = 1_000


class Feedbacks(Protocol):
    """Which candidates readers call wrongly kept or dropped: labelled examples, which outlive their articles."""

    async def put(self, feedback: Feedback) -> None:
        """Store or replace what an account says of a candidate."""

    async def withdraw(self, id: str) -> bool:
        """Delete it; False where there is none."""

    async def of(self, article_id: str, account_id: str) -> tuple[Feedback, ...]:
        """Return what an account says of an article's candidates, by id; at most 1,000."""

    def all(self) -> AsyncIterator[Feedback]:
        """Yield everything that was said, by id: what several say of one candidate comes together."""
