"""Save an article: sightings first, then what is counted from them, the article itself last.

One saver at a time holds an article: it puts `saving` into the article's document and ends by replacing exactly that
document. Who finds it held waits until it is free or the holder's time is up; a holder that was overtaken cannot end
and starts again. `saving` names what an interrupted saver leaves behind, so that the next one counts it anew.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from intel.ids import ioc_id
from intel.records import Article, Sighting
from intel.store.elastic.addresses import Addresses
from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.clusters import Clusters, Settled
from intel.store.elastic.documents import (
    Document,
    article_document,
    digest,
    sighting_document,
    sighting_id,
    to_document,
)
from intel.store.elastic.index import Found, Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import term
from intel.store.elastic.recount import Recount

HELD_SECONDS = 20.0
_SAVE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Held:
    """An article's document while it is saved; `cut_short` where an earlier saver did not end."""

    found: Found
    is_new: bool = False
    cut_short: bool = False

    @property
    def left_iocs(self) -> set[str]:
        return set(self.found.source["saving"]["iocs"])

    @property
    def left_clusters(self) -> list[str]:
        return list(self.found.source["saving"]["clusters"])


@dataclass(frozen=True, slots=True)
class Saving:
    """The parts of the store that an article goes into."""

    articles: Index
    sightings: Index
    addresses: Addresses
    iocs: Index
    bulk: Bulk
    clusters: Clusters
    recount: Recount
    held_seconds: float = HELD_SECONDS

    async def save(self, article: Article, sightings: Sequence[Sighting], addresses: Sequence[str]) -> Article:
        """`intel.store.port.Articles.save`."""
        article = replace(article, ioc_counts=dict(Counter(sighting.type for sighting in sightings)))
        content = digest(to_document(article), [to_document(sighting) for sighting in sightings])
        saver = secrets.token_hex(8)
        again = False

        @retried(_SAVE_SECONDS)
        async def attempt() -> None:
            nonlocal again
            held = await self._hold(saver, article, content, again)
            again = True
            if held is not None and not await self._write(held, article, sightings, content):
                raise TryAgain

        await attempt()
        await asyncio.gather(self.addresses.claim(article.id, addresses), self._show())
        return article

    @retried(_SAVE_SECONDS)
    async def _hold(self, saver: str, article: Article, content: str, again: bool) -> Held | None:
        """Take hold of the article's document; return None if exactly this is stored and need not be saved again."""
        id = article.id
        glance = await self.articles.get(id, ["saving", "digest"])
        if glance is None:
            mark = self.mark(saver, (), [article.cluster_id])
            if created := await self.articles.create(id, {"id": id, "saving": mark}):
                return Held(created, is_new=True)
            raise TryAgain
        saving = glance.source.get("saving")
        if saving is None and glance.source["digest"] == content and not again:
            return None
        is_free = saving is None or saving["until"] < time.time() or saving["saver"] == saver
        if is_free and (held := await self._take_over(saver, glance, article)):
            return held
        raise TryAgain

    async def _take_over(self, saver: str, glance: Found, article: Article) -> Held | None:
        found = await self.articles.get(glance.id)
        if found is None or found.seq_no != glance.seq_no:
            return None
        before = found.source.get("saving") or {"iocs": [], "clusters": []}
        clusters = {*before["clusters"], article.cluster_id, found.source.get("cluster_id", article.cluster_id)}
        marked = {**found.source, "saving": self.mark(saver, before["iocs"], sorted(clusters))}
        taken = await self.articles.replace(found, marked)
        return None if taken is None else Held(taken, cut_short="saving" in found.source)

    def mark(self, saver: str, iocs: Sequence[str], clusters: Sequence[str]) -> Document:
        """Return the member of an article's document by which `saver` holds it from now on."""
        return {"saver": saver, "until": time.time() + self.held_seconds, "iocs": iocs, "clusters": clusters}

    async def _write(self, held: Held, article: Article, sightings: Sequence[Sighting], content: str) -> bool:
        """Write the article; return False if it has to be done again: another saver took over, or the cluster
        changed.
        """
        present = {ioc_id(sighting.type, sighting.value) for sighting in sightings}
        gone = set() if held.is_new else await self.sighted_in(article.id) - present
        if gone - held.left_iocs:
            noted = await self._note(held, gone)
            if noted is None:
                return False
            held = noted
        settled = await self._settle(held, article)
        await self._write_sightings(article, sightings, gone, settled.source_name)
        await self.sightings.refresh()
        copied = await self._recount_clusters(held, article, settled)
        await self.recount.recount(present | gone | held.left_iocs | copied)
        if await self.articles.replace(held.found, {**article_document(article), "digest": content}) is None:
            return False
        await self.articles.refresh()
        return await self.clusters.counts_for(article.cluster_id) == settled.source_name

    async def _note(self, held: Held, gone: set[str]) -> Held | None:
        """Write down which indicators vanish, before their sightings do."""
        saver = held.found.source["saving"]["saver"]
        mark = self.mark(saver, sorted(gone | held.left_iocs), held.left_clusters)
        found = await self.articles.replace(held.found, {**held.found.source, "saving": mark})
        return None if found is None else replace(held, found=found)

    async def _settle(self, held: Held, article: Article) -> Settled:
        if held.is_new:
            return await self.clusters.enter(article)
        settled = await self.clusters.settle(article.cluster_id, article.id, article)
        assert settled is not None  # noqa: S101 - a cluster with a member has an earliest one
        return settled

    async def _write_sightings(
        self, article: Article, sightings: Sequence[Sighting], gone: set[str], source_name: str
    ) -> None:
        place = self.sightings.name
        writes = [Write("delete", place, sighting_id(id, article.id)) for id in sorted(gone)]
        for sighting in sightings:
            document = sighting_document(article, sighting, source_name)
            writes.append(Write("index", place, sighting_id(document["ioc_id"], article.id), document))
        await self.bulk.write_all(writes)

    async def _recount_clusters(self, held: Held, article: Article, settled: Settled) -> set[str]:
        """Return the indicators of copies that count for another source now, in this cluster and in those that were
        left.
        """
        changed: set[str] = set()
        if settled.changed or held.cut_short:
            changed |= await self.clusters.recount_copies(article.cluster_id)
        left = [id for id in held.left_clusters if id != article.cluster_id]
        for cluster_id in left:
            await self.clusters.settle(cluster_id, article.id, None)
            changed |= await self.clusters.recount_copies(cluster_id)
        if held.cut_short:
            for cluster_id in (article.cluster_id, *left):
                changed |= await self.clusters.iocs_of(cluster_id)
        return changed

    async def sighted_in(self, article_id: str) -> set[str]:
        """Return the ids of the indicators whose sightings in an article are stored."""
        await self.sightings.refresh()
        body = {"query": term("article_id", article_id), "_source": ["ioc_id"]}
        pages = self.sightings.pages(body, ["_shard_doc"], 5_000)
        return {hit["_source"]["ioc_id"] async for page in pages for hit in page}

    async def _show(self) -> None:
        await asyncio.gather(self.iocs.refresh(), self.articles.refresh())


def is_complete(article: dict[str, Any]) -> bool:
    """Tell whether the document holds an article, not only the mark of its first saver."""
    return "seen_at" in article
