"""Indicators: found by search, read by id, written only by saving articles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intel.query import ChangePage, ChangeQuery, IocQuery, Page
from intel.records import NEWEST_ARTICLES, Facets, Ioc, Mention
from intel.store.elastic import queries
from intel.store.elastic.changes import Changes
from intel.store.elastic.documents import IOC_MEMBERS, ioc_record, is_there, sighted_article
from intel.store.elastic.index import Index
from intel.times import from_milliseconds

_MENTION_MEMBERS = [
    "article_id", "title", "url", "source_name", "source_domain", "published_at", "seen_at", "context",
]  # fmt: skip
# The most buckets that one answer holds; twenty articles with more indicators between them share few of those beyond.
_MOST_RELATED = 60_000
_FACETS_FILTER = "aggregations.*.buckets.key,aggregations.*.buckets.doc_count"
_RELATED_FILTER = "aggregations.iocs.buckets.key,aggregations.iocs.buckets.doc_count"


class ElasticIocs:
    """`intel.store.port.Iocs`."""

    def __init__(self, iocs: Index, sightings: Index, changes: Changes) -> None:
        self._iocs = iocs
        self._sightings = sightings
        self._changes = changes

    async def find(self, query: IocQuery) -> Page[Ioc]:
        answer = await self._iocs.search({**queries.ioc_page(query), "_source": IOC_MEMBERS})
        hits = answer["hits"]["hits"]
        items = tuple(ioc_record(hit["_source"]) for hit in hits[: query.limit])
        more = len(hits) > query.limit
        next = queries.position_of(hits[query.limit - 1]["sort"], searched=query.text is not None) if more else None
        return Page(items, answer["hits"]["total"]["value"] if query.after is None else None, next)

    async def facets(self, query: IocQuery) -> Facets:
        answer = await self._iocs.search(queries.ioc_facets(query), filter_path=_FACETS_FILTER)
        facets = answer.get("aggregations", {})
        weeks = facets.get("weeks", {}).get("buckets", [])[: queries.MOST_FACET_WEEKS]
        return Facets(
            types=_counts(facets.get("types")),
            sources=_counts(facets.get("sources")),
            weeks={_week_id(bucket["key"]): bucket["doc_count"] for bucket in weeks},
        )

    async def changes(self, query: ChangeQuery) -> ChangePage:
        return await self._changes.page(query)

    async def get(self, id: str) -> Ioc | None:
        found = await self._iocs.get(id, IOC_MEMBERS)
        return ioc_record(found.source) if found is not None and is_there(found.source) else None

    async def get_many(self, ids: Sequence[str]) -> dict[str, Ioc]:
        found = await self._iocs.get_many(ids, source=IOC_MEMBERS)
        return {id: ioc_record(one.source) for id, one in found.items() if is_there(one.source)}

    async def mentions_of(self, id: str, limit: int) -> tuple[tuple[Mention, ...], int]:
        query = {
            "query": queries.term("ioc_id", id),
            "sort": queries.NEWEST_SIGHTINGS,
            "size": limit,
            "_source": _MENTION_MEMBERS,
            "track_total_hits": True,
        }
        hits = (await self._sightings.search(query))["hits"]
        mentions = tuple(Mention(sighted_article(hit["_source"]), hit["_source"]["context"]) for hit in hits["hits"])
        return mentions, hits["total"]["value"]

    async def related(self, id: str, limit: int) -> tuple[Ioc, ...]:
        mentions, _ = await self.mentions_of(id, NEWEST_ARTICLES)
        if not mentions or limit < 1:
            return ()
        asked = _shared(id, [mention.article.id for mention in mentions])
        shared = await self._sightings.search(asked, filter_path=_RELATED_FILTER)
        buckets = shared.get("aggregations", {}).get("iocs", {}).get("buckets", [])
        counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
        return await self._best_of(counts, limit)

    async def _best_of(self, counts: dict[str, int], limit: int) -> tuple[Ioc, ...]:
        """Return those with the highest counts; where the last places tie, the newest."""
        last = min(sorted(counts.values(), reverse=True)[:limit], default=0)
        above = [id for id, count in counts.items() if count > last]
        tied = [id for id, count in counts.items() if count == last]
        found = tuple((await self.get_many(above)).values())
        newest = (*found, *await self._newest_of(tied, limit - len(above)))
        return tuple(sorted(newest, key=lambda ioc: (-counts[ioc.id], -ioc.last_seen.timestamp(), ioc.id)))

    async def _newest_of(self, ids: Sequence[str], limit: int) -> tuple[Ioc, ...]:
        return await self._first({"terms": {"id": ids}}, queries.NEWEST_IOCS, limit)

    async def _first(self, query: dict[str, Any], sort: Sequence[Any], limit: int) -> tuple[Ioc, ...]:
        asked = {"query": query, "sort": sort, "size": limit, "_source": IOC_MEMBERS, "track_total_hits": False}
        hits = (await self._iocs.search(asked))["hits"]["hits"]
        return tuple(ioc_record(hit["_source"]) for hit in hits)


def _counts(terms: dict[str, Any] | None) -> dict[str, int]:
    return {bucket["key"]: bucket["doc_count"] for bucket in terms["buckets"]} if terms else {}


def _week_id(monday: int) -> str:
    year, week, _ = from_milliseconds(monday).isocalendar()
    return f"{year:04}-W{week:02}"


def _shared(id: str, article_ids: Sequence[str]) -> dict[str, Any]:
    beside = {"filter": [{"terms": {"article_id": article_ids}}], "must_not": [queries.term("ioc_id", id)]}
    by_ioc = {"terms": {"field": "ioc_id", "size": _MOST_RELATED, "execution_hint": "map"}}
    return {"size": 0, "track_total_hits": False, "query": {"bool": beside}, "aggs": {"iocs": by_ioc}}
