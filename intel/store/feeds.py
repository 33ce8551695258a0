"""The part of the store that keeps the feeds that are followed."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from intel.records import Feed


class Feeds(Protocol):
    """Feeds, and who is polling them."""

    async def add(self, feed: Feed) -> bool:
        """Store a new one; False where its id is known already."""

    async def get(self, id: str) -> Feed | None:
        """Return the feed with that id."""

    async def all(self) -> tuple[Feed, ...]:
        """Return every feed, by name, then by id."""

    async def update(self, feed: Feed) -> Feed | None:
        """Write back one that was read and return it with its next `revision`; None (and nothing written) where it was
        changed or removed since.
        """

    async def remove(self, id: str) -> bool:
        """Delete a feed; False where there is none."""

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Feed | None:
        """Take one that is due (see `due`) until the lease's end, as an `update` of `lease_ends_at`.

        None where there is nothing to take. Of any number of claims at once exactly one succeeds.
        """

    async def due(self, now: datetime, limit: int) -> tuple[Feed, ...]:
        """Return those that are enabled, not ended, not leased any more, and whose `next_poll_at` has come: longest due
        first, then by id.
        """
