"""The parts of the store that keep saved searches, and what is sent of them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from intel.saved_searches import Delivery, SavedSearch


class SavedSearches(Protocol):
    """Saved searches, and how far each has been told."""

    async def add(self, search: SavedSearch, most: int) -> None:
        """Store a new one; SearchLimitReached where its account has as many as `most`.

        Additions at once from several servers may pass that by as many.
        """

    async def get(self, id: str) -> SavedSearch | None:
        """Return the search with that id."""

    async def of(self, account_id: str) -> tuple[SavedSearch, ...]:
        """Return an account's searches (at most 1,000), by creation, then by id."""

    async def update(self, search: SavedSearch) -> SavedSearch | None:
        """Write back one that was read and return it with its next `revision`; None (and nothing written) where it was
        changed or removed since.
        """

    async def remove(self, id: str) -> bool:
        """Delete a search with its deliveries; False where there is none."""

    async def any_told(self) -> bool:
        """Return whether there is a search that somebody is told of."""

    async def behind(self, number: int, now: datetime, limit: int) -> tuple[SavedSearch, ...]:
        """Return those that have something to do, by id: enabled, not leased any more, and with something in their
        `outbox`, or a webhook that was told additions before `number` alone, or mail that is due and was.
        """


class Deliveries(Protocol):
    """What is sent to the receivers of saved searches. Ids of later ones are greater."""

    async def put(self, delivery: Delivery) -> None:
        """Store a new delivery; nothing changes where its id is known."""

    async def get(self, id: str) -> Delivery | None:
        """Return the delivery with that id."""

    async def of(self, search_id: str, limit: int, before: str | None = None) -> tuple[Delivery, ...]:
        """Return deliveries of a search, newest first; with `before` those older than that id."""

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Delivery | None:
        """Take a pending delivery whose `due_at` has come: one more attempt, due at the lease's end.

        None where there is nothing to take. Of any number of claims at once exactly one succeeds.
        """

    async def update(self, delivery: Delivery) -> bool:
        """Write a claimed delivery back; False (and nothing written) where `attempts` has moved on or it is gone."""

    async def due(self, now: datetime, limit: int) -> tuple[Delivery, ...]:
        """Return pending deliveries whose `due_at` has come, of each search the longest due one: longest due first,
        then by id.
        """

    async def count(self, search_id: str) -> tuple[int, int]:
        """Return how many deliveries a search has, in all and pending."""

    async def remove(self, id: str) -> None:
        """Delete a delivery, if it is there."""
