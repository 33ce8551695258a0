"""Changing how far a stored article may be passed on."""

from __future__ import annotations

from intel.errors import NotFound
from intel.records import Article
from intel.store import Store
from intel.tlp import Tlp


async def change_sharing(store: Store, id: str, tlp: Tlp | None) -> Article:
    """Let a stored article have that level; its indicators follow. Returns it as it was before. Raises NotFound."""
    before = await store.articles.change_tlp(id, tlp)
    if before is None:
        raise NotFound("No article has this id.")
    return before
