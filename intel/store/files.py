"""The part of the store that keeps files which were handed in, until they have been read."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from intel.records import HandedFile
from intel.store.waiting import FILE_BOUNDS, FileBounds


class Files(Protocol):
    """Files that wait to be read: as durable as the submissions that name them."""

    async def put(self, file: HandedFile, body: bytes, bounds: FileBounds = FILE_BOUNDS) -> None:
        """Keep a file of a new id; QueueFull or AccountQueueFull where too much waits already.

        Files that are put at once from several servers may pass the bounds by as many.
        """

    async def get(self, id: str) -> bytes | None:
        """Return the bytes of a file, or None."""

    async def remove(self, id: str) -> None:
        """Delete a file, if it is there."""

    async def before(self, moment: datetime, limit: int) -> tuple[HandedFile, ...]:
        """Return the files that were put before that time, oldest first, then by id."""
