"""Clusters of articles with the same text: the earliest one gives the source that all of them count for.

A document with the cluster's id names that article. Who changes it looks at the cluster's articles once more
afterwards, and who saves an article looks at the document once more afterwards: of two at once, one sees the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intel.records import Article
from intel.store.elastic.bulk import Bulk, Write, expecting
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import Document, moment, recounted_sighting
from intel.store.elastic.index import Found, Index, as_found
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import term

_COPIES_AT_ONCE = 1_000
_RECOUNT_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Settled:
    """The source that a cluster counts for, and whether it was decided just now."""

    source_name: str
    changed: bool


class Clusters:
    """Knows each cluster's earliest article and counts its copies' sightings for it."""

    def __init__(self, clusters: Index, articles: Index, sightings: Index, bulk: Bulk) -> None:
        self._clusters = clusters
        self._articles = articles
        self._sightings = sightings
        self._bulk = bulk

    async def enter(self, articles: Sequence[Article]) -> dict[str, Settled]:
        """Decide the sources of the clusters of articles that were not stored before; return them by cluster."""
        changed: set[str] = set()

        @retried()
        async def attempt() -> dict[str, Settled]:
            found = await self._clusters.get_many([article.cluster_id for article in articles])
            first = {id: one.source for id, one in found.items()}
            for article in articles:
                mine, id = _member(article), article.cluster_id
                first[id] = min(first.get(id, mine), mine, key=_order)
            later = [id for id, one in found.items() if first[id] is not one.source]
            changed.update(later)
            writes = [expecting("index", found[id], first[id]) for id in later]
            writes += [Write("create", self._clusters.name, id, first[id]) for id in first.keys() - found.keys()]
            if not all(await self._bulk.try_all(writes)):
                raise TryAgain
            return {id: Settled(str(one["source_name"]), id in changed) for id, one in first.items()}

        return await attempt()

    async def settle(self, cluster_id: str, article_id: str, member: Article | None) -> Settled | None:
        """Decide a cluster's source anew: `member` stands for the stored article of that id; return None if no article
        is left.
        """
        changed = False

        @retried()
        async def attempt() -> Settled | None:
            nonlocal changed
            first = await self._earliest(cluster_id, article_id, member)
            found = await self._clusters.get(cluster_id)
            if found is None and first is None:
                return None
            if found is not None and first is not None and _same(found.source, first):
                return Settled(first["source_name"], changed)
            changed = await self._put(cluster_id, found, first) or changed
            raise TryAgain

        return await attempt()

    async def count_for(self, cluster_ids: Sequence[str]) -> dict[str, str]:
        """Return the source names that clusters count for at this moment, by cluster."""
        found = await self._clusters.get_many(cluster_ids, source=["source_name"])
        return {id: str(one.source["source_name"]) for id, one in found.items()}

    async def counts_for(self, cluster_id: str) -> str | None:
        """Return the source name that a cluster counts for at this moment."""
        found = await self._clusters.get(cluster_id)
        return None if found is None else str(found.source["source_name"])

    async def recount_copies(self, cluster_id: str) -> set[str]:
        """Let every sighting in the cluster count for the cluster's source; return the indicators that this changes."""
        changed: set[str] = set()
        await self._recount_copies(cluster_id, changed)
        return changed

    @retried(_RECOUNT_SECONDS)
    async def _recount_copies(self, cluster_id: str, changed: set[str]) -> None:
        """Ask for the source at each attempt, so that what was written for an outdated one is found and written
        again.
        """
        source_name = await self.counts_for(cluster_id)
        found = [] if source_name is None else await self._miscounted(cluster_id, source_name)
        if source_name is None or not found:
            return
        changed.update(one.source["ioc_id"] for one in found)
        recounted = [expecting("index", one, recounted_sighting(one.source, source_name)) for one in found]
        await self._bulk.try_all(recounted)
        raise TryAgain

    async def _miscounted(self, cluster_id: str, source_name: str) -> list[Found]:
        await self._sightings.refresh()
        in_cluster, right = term("cluster_id", cluster_id), term("counted_source", source_name)
        query = {
            "query": {"bool": {"filter": [in_cluster], "must_not": [right]}},
            "size": _COPIES_AT_ONCE,
            "seq_no_primary_term": True,
            "track_total_hits": False,
        }
        answer = await self._sightings.search(query, patience=Patience.LONG)
        return [as_found(hit) for hit in answer["hits"]["hits"]]

    async def iocs_of(self, cluster_id: str) -> set[str]:
        """Return every indicator in the cluster's articles."""
        await self._sightings.refresh()
        body = {"query": term("cluster_id", cluster_id), "_source": ["ioc_id"]}
        pages = self._sightings.pages(body, ["_shard_doc"], 5_000)
        return {hit["_source"]["ioc_id"] async for page in pages for hit in page}

    async def _put(self, cluster_id: str, found: Found | None, member: Document | None) -> bool:
        if found is None:
            return member is not None and await self._clusters.create(cluster_id, member) is not None
        if member is None:
            return await self._clusters.delete(found)
        return await self._clusters.replace(found, member) is not None

    async def _earliest(self, cluster_id: str, article_id: str, member: Article | None) -> Document | None:
        """Return the cluster's earliest article; `member` stands for the one with that id."""
        await self._articles.refresh()
        members = [term("cluster_id", cluster_id), {"exists": {"field": "seen_at"}}]
        query = {
            "query": {"bool": {"filter": members, "must_not": [term("id", article_id)]}},
            "sort": [{"seen_at": "asc"}, {"id": "asc"}],
            "size": 1,
            "_source": ["id", "source_name", "source_domain", "seen_at"],
            "track_total_hits": False,
        }
        answer = await self._articles.search(query)
        stored = [_stored_member(hit["_source"]) for hit in answer["hits"]["hits"]]
        return min([*stored, *([_member(member)] if member else [])], key=_order, default=None)


def _stored_member(article: Document) -> Document:
    counted = article.get("source_domain") or article["source_name"]
    return {"article_id": article["id"], "source_name": counted, "seen_at": article["seen_at"]}


def _member(article: Article) -> Document:
    return {"article_id": article.id, "source_name": article.counted_source, "seen_at": moment(article.seen_at)}


def _order(member: Document) -> tuple[str, str]:
    return member["seen_at"], member["article_id"]


def _same(one: Document, other: Document) -> bool:
    return all(one[name] == other[name] for name in ("article_id", "source_name", "seen_at"))
