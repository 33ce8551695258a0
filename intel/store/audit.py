"""The part of the store that keeps who did what to accounts, keys, feeds and articles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from intel.audit import AuditEntry

MOST_KEPT: Final = 10_000


class Audit(Protocol):
    """Who did what: the newest entries, bounded."""

    async def add(self, entry: AuditEntry, most_kept: int = MOST_KEPT) -> None:
        """Store an entry; the oldest ones beyond `most_kept` (at most 10,000) go."""

    async def newest(self, limit: int, before: str | None = None) -> Sequence[AuditEntry]:
        """Return the newest entries (at most 1,000) whose id is less than `before`, newest first."""
