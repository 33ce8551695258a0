"""The part of the store that keeps how far sources are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Trusts(Protocol):
    """The trust of sources, 0 to 100; of one that nobody said anything of it is `intel.confidence.USUAL_TRUST`.

    A source is one that somebody answers for (`Article.counted_source`): a name that is only claimed has no trust.
    """

    async def set(self, source: str, trust: int) -> int:
        """Trust a source so far from now on; return how far it was trusted before."""

    async def all(self) -> dict[str, int]:
        """Return the sources with another trust than the usual one, by name."""

    async def best_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the trust of the most trusted source of each of these indicators (at most 1,000), by id.

        Those for which that is the usual one are left out. Another process knows a changed trust within some seconds.
        """
