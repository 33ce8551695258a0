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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from intel.ids import ioc_id
from intel.records import Article, Sighting
from intel.store.elastic.addresses import Addresses
from intel.store.elastic.bulk import Bulk, Write, expecting
from intel.store.elastic.clusters import Clusters, Settled
from intel.store.elastic.documents import (
    Document,
    annotated_at,
    article_document,
    article_record,
    content_of,
    digest,
    sighting_documents,
    sighting_id,
)
from intel.store.elastic.index import Found, Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import term
from intel.store.elastic.recount import Recount
from intel.store.entry import Entry, steps
from intel.tlp import Tlp, level_of, strictest

HELD_SECONDS = 20.0
# What accounts put on an article, whatever is saved.
_KEPT_MEMBERS = ("tags", "annotated_at")
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
class Draft:
    """An article to save, with its counts; `content` differs where anything of it does."""

    article: Article
    sightings: Sequence[Sighting]
    addresses: Sequence[str]
    content: str


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
    clock: Callable[[], datetime]
    held_seconds: float = HELD_SECONDS

    async def save_many(self, entries: Sequence[Entry]) -> tuple[Article, ...]:
        """`intel.store.port.Articles.save_many`."""
        drafts = [_draft(entry) for entry in entries]
        ids = [draft.article.id for draft in drafts]
        stored = await self.articles.get_many([*dict.fromkeys(ids)], source=False)
        for step, is_new in steps(ids, stored):
            await (self._save_together(drafts[step]) if is_new else self._save(drafts[step.start], again=False))
        claims = [(draft.article.id, draft.addresses) for draft in drafts]
        await asyncio.gather(self.addresses.claim(claims), self._show())
        return tuple(draft.article for draft in drafts)

    async def change_tlp(self, id: str, tlp: Tlp | None) -> Article | None:
        """`intel.store.port.Articles.change_tlp`."""
        saver = secrets.token_hex(8)

        @retried(_SAVE_SECONDS)
        async def attempt() -> Article | None:
            glance = await self.articles.get(id)
            if glance is None or not is_complete(glance.source):
                return None
            before = article_record(glance.source)
            if before.tlp == tlp and "saving" not in glance.source:
                return before
            held = await self._take_over(saver, glance, before) if _is_free(glance, saver) else None
            if held is None or not await self._write_tlp(held, id, tlp):
                raise TryAgain
            return before

        before = await attempt()
        await self._show()
        return before

    async def _write_tlp(self, held: Held, id: str, tlp: Tlp | None) -> bool:
        """Write the level of an article that is held, and count its indicators anew; False if it was taken over."""
        iocs = await self.sighted_in(id)
        level = {"tlp": level_of(tlp)}
        await self.bulk.write_all(Write("update", self.sightings.name, sighting_id(one, id), level) for one in iocs)
        await self.sightings.refresh()
        await self.recount.recount(iocs)
        document = {
            **held.found.source,
            "tlp": tlp,
            "annotated_at": annotated_at(held.found.source, self.clock()),
        }
        mark = document.pop("saving")
        if held.cut_short:
            # What an interrupted saver left behind is still for the next one to count.
            document["saving"] = {**mark, "until": 0}
        return await self.articles.replace(held.found, document) is not None

    async def _save_together(self, drafts: Sequence[Draft]) -> None:
        """Save articles of different ids that were not stored a moment ago; each that is by now by itself."""
        saver = secrets.token_hex(8)
        held = await self._hold_new(saver, drafts)
        again = await self._save_new([draft for draft in drafts if draft.article.id in held], held)
        for draft in drafts:
            if draft.article.id not in held or draft.article.id in again:
                await self._save(draft, draft.article.id in again)

    async def _hold_new(self, saver: str, drafts: Sequence[Draft]) -> dict[str, Found]:
        """Take hold of the articles that are not stored; return their documents by id."""
        new, place = [draft.article for draft in drafts], self.articles.name
        created = await self.bulk.create(
            [
                Write("create", place, one.id, {"id": one.id, "saving": self.mark(saver, (), [one.cluster_id])})
                for one in new
            ]
        )
        # Reading back tells whose mark it is where the answer was lost.
        others = await self.articles.get_many([article.id for article in new if article.id not in created])
        return created | {id: one for id, one in others.items() if one.source.get("saving", {}).get("saver") == saver}

    async def _save_new(self, drafts: Sequence[Draft], held: Mapping[str, Found]) -> set[str]:
        """Write new articles that are held; return the ids of those that have to be saved again."""
        if not drafts:
            return set()
        settled = await self.clusters.enter([draft.article for draft in drafts])
        sightings: list[Document] = []
        await self.bulk.write_all(self._sighting_writes(drafts, settled, sightings))
        await self.sightings.refresh()
        recounted = set[str]()
        for cluster_id, source in settled.items():
            if source.changed:
                recounted |= await self.clusters.recount_copies(cluster_id)
        # What stored copies say otherwise now is not told by what was counted before.
        fresh = [one for one in sightings if one["ioc_id"] not in recounted]
        await self.recount.recount({one["ioc_id"] for one in sightings} | recounted, fresh)
        documents = (article_document(draft.article) | {"digest": draft.content} for draft in drafts)
        passed = await self.bulk.try_all(expecting("index", held[one["id"]], one) for one in documents)
        standing = await self.clusters.count_for(list(settled))
        return {
            draft.article.id
            for draft, done in zip(drafts, passed, strict=True)
            if not done or standing.get(cluster := draft.article.cluster_id) != settled[cluster].source_name
        }

    def _sighting_writes(
        self, drafts: Sequence[Draft], settled: Mapping[str, Settled], written: list[Document]
    ) -> Iterator[Write]:
        """Yield the writes of all sightings, each made when it is its turn; `written` is told of their documents."""
        for draft in drafts:
            source_name = settled[draft.article.cluster_id].source_name
            for one in sighting_documents(draft.article, draft.sightings, source_name):
                written.append(one)
                yield Write("index", self.sightings.name, sighting_id(one["ioc_id"], one["article_id"]), one)

    async def _save(self, draft: Draft, again: bool) -> None:
        """Save an article that may be stored already; `again` though exactly this is stored."""
        saver = secrets.token_hex(8)

        @retried(_SAVE_SECONDS)
        async def attempt() -> None:
            nonlocal again
            held = await self._hold(saver, draft.article, draft.content, again)
            again = True
            if held is not None and not await self._write(held, draft):
                raise TryAgain

        await attempt()

    @retried(_SAVE_SECONDS)
    async def _hold(self, saver: str, article: Article, content: str, again: bool) -> Held | None:
        """Take hold of the article's document; return None if exactly this is stored and need not be saved again."""
        id = article.id
        glance = await self.articles.get(id, ["saving", "digest", "tlp"])
        if glance is None:
            mark = self.mark(saver, (), [article.cluster_id])
            if created := await self.articles.create(id, {"id": id, "saving": mark}):
                return Held(created, is_new=True)
            raise TryAgain
        saving = glance.source.get("saving")
        as_strict = level_of(article.tlp) <= level_of(glance.source.get("tlp"))
        if saving is None and glance.source["digest"] == content and as_strict and not again:
            return None
        if _is_free(glance, saver) and (held := await self._take_over(saver, glance, article)):
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

    async def _write(self, held: Held, draft: Draft) -> bool:
        """Write the article; return False if it has to be done again: another saver took over, or the cluster
        changed.
        """
        article = replace(draft.article, tlp=strictest([draft.article.tlp, held.found.source.get("tlp")]))
        draft = replace(draft, article=article)
        present = {ioc_id(sighting.type, sighting.value) for sighting in draft.sightings}
        gone = set() if held.is_new else await self.sighted_in(article.id) - present
        if gone - held.left_iocs:
            noted = await self._note(held, gone)
            if noted is None:
                return False
            held = noted
        settled = await self._settle(held, article)
        await self._write_sightings(draft, gone, settled.source_name)
        await self.sightings.refresh()
        copied = await self._recount_clusters(held, article, settled)
        await self.recount.recount(present | gone | held.left_iocs | copied)
        document = {**article_document(article), "digest": draft.content}
        if not held.is_new:
            document |= {name: held.found.source[name] for name in _KEPT_MEMBERS if held.found.source.get(name)}
        if await self.articles.replace(held.found, document) is None:
            return False
        return await self.clusters.counts_for(article.cluster_id) == settled.source_name

    async def _note(self, held: Held, gone: set[str]) -> Held | None:
        """Write down which indicators vanish, before their sightings do."""
        saver = held.found.source["saving"]["saver"]
        mark = self.mark(saver, sorted(gone | held.left_iocs), held.left_clusters)
        found = await self.articles.replace(held.found, {**held.found.source, "saving": mark})
        return None if found is None else replace(held, found=found)

    async def _settle(self, held: Held, article: Article) -> Settled:
        if held.is_new:
            return (await self.clusters.enter([article]))[article.cluster_id]
        settled = await self.clusters.settle(article.cluster_id, article.id, article)
        assert settled is not None  # noqa: S101 - a cluster with a member has an earliest one
        return settled

    async def _write_sightings(self, draft: Draft, gone: set[str], source_name: str) -> None:
        place, id = self.sightings.name, draft.article.id
        writes = [Write("delete", place, sighting_id(one, id)) for one in sorted(gone)]
        sightings = sighting_documents(draft.article, draft.sightings, source_name)
        writes += [Write("index", place, sighting_id(one["ioc_id"], id), one) for one in sightings]
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
        await self.articles.refresh_beside(self.iocs)


def _draft(entry: Entry) -> Draft:
    counts = dict(Counter(sighting.type for sighting in entry.sightings))
    article = replace(entry.article, ioc_counts=counts, tags=())
    # The level is compared by itself: it may have been changed since this was saved.
    content = digest(content_of(replace(article, tlp=None)), list(entry.sightings))
    return Draft(article, entry.sightings, entry.addresses, content)


def _is_free(article: Found, saver: str) -> bool:
    """Tell whether nobody else holds an article."""
    saving = article.source.get("saving")
    return saving is None or saving["until"] < time.time() or saving["saver"] == saver


def is_complete(article: dict[str, Any]) -> bool:
    """Tell whether the document holds an article, not only the mark of its first saver."""
    return "seen_at" in article
