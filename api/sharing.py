"""Saying how far an article may be passed on, alike in REST, on its page and on the command line."""

from __future__ import annotations

from api.auditing import Auditing
from ingest.sharing_changes import change_sharing
from intel.store import Store
from intel.tlp import Tlp


async def mark(store: Store, audit: Auditing, article_id: str, tlp: Tlp | None) -> None:
    """Let an article have that level, and note who said so. Raises NotFound."""
    before = (await change_sharing(store, article_id, tlp)).tlp
    if before != tlp:
        await audit.note("article.marked", article_id, f"{before or 'none'} -> {tlp or 'none'}")
