"""The part of the store that keeps tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from intel.tags import TaggedKind as TaggedKind


class Tags(Protocol):
    """Tags of indicators and articles; records show them, and saving an article again keeps them."""

    async def change(
        self, kind: TaggedKind, id: str, add: Sequence[str], remove: Sequence[str] = ()
    ) -> tuple[str, ...] | None:
        """Remove and add tags; return all that are there then, sorted, or None where nothing is stored under the id.

        Of any number of changes at once none is lost. An indicator whose tags change counts as changed in the change
        feed, an article as annotated (`Article.annotated_at`). Raises InvalidQuery where it would have too many
        (`intel.tags.changed`).
        """
