"""The part of the store that keeps notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from intel.notes import Note
from intel.store.tags import TaggedKind


class Notes(Protocol):
    """Notes on indicators and articles; they go with their record, and stay when articles are read again.

    An indicator whose notes change counts as changed in the change feed.
    """

    async def add(self, note: Note) -> bool:
        """Store a note; False where there is no such indicator or article.

        Raises InvalidQuery where the record has as many as it may (`intel.notes.MOST_NOTES`).
        """

    async def remove(self, kind: TaggedKind, record_id: str, id: str) -> bool:
        """Delete a note of a record; False where there is none."""

    async def of(self, record_ids: Sequence[str]) -> Mapping[str, tuple[Note, ...]]:
        """Return the notes on the given records (at most 1,000), oldest first, then by id; those without any are left
        out.
        """
