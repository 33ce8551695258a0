"""Changing how far a stored article may be passed on."""

from __future__ import annotations

from dataclasses import replace

from ingest.warned import marked
from intel.errors import NotFound
from intel.records import Article
from intel.store import Store
from intel.tlp import Tlp


async def change_sharing(store: Store, id: str, tlp: Tlp | None) -> Article:
    """Let a stored article have that level; its indicators follow. Returns it as it was before. Raises NotFound."""
    article = await store.articles.get(id)
    if article is None:
        raise NotFound("No article has this id.")
    if article.tlp != tlp:
        sightings = await marked(store, await store.articles.sightings_of(id))
        await store.articles.save(replace(article, tlp=tlp), sightings, ())
    return article
