"""Articles and the sightings in them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Any

from intel.gathering import Gathering
from intel.query import ArticleQuery, Page, Position
from intel.records import Article, ArticleTotals, Ioc, SeenIoc, Sighting
from intel.store.elastic import queries
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import (
    ARTICLE_MEMBERS,
    IOC_MEMBERS,
    NOT_IN_LISTS,
    article_record,
    ioc_record,
    is_there,
    seen_ioc,
    sighting_id,
    sighting_record,
)
from intel.store.elastic.index import Index
from intel.store.elastic.removing import Removing
from intel.store.elastic.saving import Saving, is_complete
from intel.store.elastic.subjects import ElasticSubjects
from intel.store.outline import WeekOutline
from intel.store.port import Entry
from intel.store.tally import Indicator, Tally, Told, count, untold
from intel.times import from_milliseconds
from intel.tlp import Tlp

_LISTED = {"_source": {"excludes": NOT_IN_LISTS}}
_HEADINGS = ["title", "source_name"]
_SIGHTINGS_AT_ONCE = 5_000
_ROWS_AT_ONCE = 250
_MOST_SOURCES = 60_000
_MOST_TOLD = 1_000
_SEEN_MEMBERS = ["ioc_id", "type", "value", "article_id", "counted_source", "seen_at", "malware"]
_SUMS: dict[str, Any] = {
    "size": 0,
    "track_total_hits": False,
    "aggs": {"count": {"value_count": {"field": "fingerprint"}}, "sum": {"sum": {"field": "fingerprint"}}},
}
_ARTICLES: dict[str, Any] = {
    "size": 0,
    "track_total_hits": False,
    "aggs": {"articles": {"value_count": {"field": "id"}}},
}
_TOTALS: dict[str, Any] = {
    "size": 0,
    "track_total_hits": False,
    "query": queries.ALL_ARTICLES,
    "aggs": {
        "articles": {"value_count": {"field": "seen_at"}},
        "names": {"terms": {"field": "source_name", "size": _MOST_SOURCES}},
        "sources": {"stats_bucket": {"buckets_path": "names>_count"}},
        "newest": {"max": {"field": "seen_at"}},
    },
}
_TOTALS_FILTER = "aggregations.articles.value,aggregations.sources.count,aggregations.newest.value"
_TYPES_AND_SOURCES: dict[str, Any] = {
    "size": 0,
    "track_total_hits": False,
    "aggs": {
        "types": {"terms": {"field": "type", "size": 100}},
        "sources": {"cardinality": {"field": "source_names", "precision_threshold": 40_000}},
    },
}


class ElasticArticles:
    """`intel.store.port.Articles`."""

    def __init__(
        self,
        articles: Index,
        sightings: Index,
        iocs: Index,
        subjects: ElasticSubjects,
        saving: Saving,
        removing: Removing,
    ) -> None:
        self._articles = articles
        self._sightings = sightings
        self._iocs = iocs
        self._subjects = subjects
        self._saving = saving
        self._removing = removing
        # Whoever looks up what is not there is told what there is.
        self._totals = Gathering(self._read_totals, _MOST_TOLD)

    async def save(self, article: Article, sightings: Sequence[Sighting], addresses: Sequence[str]) -> Article:
        (saved,) = await self._saving.save_many([Entry(article, sightings, addresses)])
        return saved

    async def save_many(self, entries: Sequence[Entry]) -> tuple[Article, ...]:
        return await self._saving.save_many(entries)

    async def change_tlp(self, id: str, tlp: Tlp | None) -> Article | None:
        return await self._saving.change_tlp(id, tlp)

    async def remove(self, id: str, *, expired: bool = False) -> bool:
        return await self._removing.remove(id, expired=expired)

    async def finish_removals(self) -> None:
        await self._removing.finish()

    async def id_of(self, address: str) -> str | None:
        return (await self.ids_of([address])).get(address)

    async def ids_of(self, addresses: Sequence[str]) -> dict[str, str]:
        return await self._saving.addresses.ids_of(addresses)

    async def get(self, id: str) -> Article | None:
        found = await self._articles.get(id)
        return article_record(found.source) if found is not None and is_complete(found.source) else None

    async def get_many(self, ids: Sequence[str]) -> dict[str, Article]:
        found = await self._articles.get_many(ids, source=ARTICLE_MEMBERS)
        return {id: article_record(one.source) for id, one in found.items() if is_complete(one.source)}

    async def find(self, query: ArticleQuery) -> Page[Article]:
        searches = [{**search, **_LISTED} for search in queries.article_searches(query)]
        found, *counted = await self._articles.search_many(searches)
        hits = found["hits"]["hits"]
        items = tuple(article_record(hit["_source"]) for hit in hits[: query.limit])
        more = len(hits) > query.limit
        next = queries.position_of(hits[query.limit - 1]["sort"], searched=False) if more else None
        total = None if query.after is not None else queries.total_of(query.limit, found, *(counted or [None]))
        return Page(items, total, next)

    async def totals(self) -> ArticleTotals:
        return await self._totals(None)

    async def _read_totals(self, asked: Sequence[None]) -> list[ArticleTotals]:
        counts = (await self._articles.search(_TOTALS, filter_path=_TOTALS_FILTER))["aggregations"]
        newest = counts["newest"]["value"]
        totals = ArticleTotals(
            articles=counts["articles"]["value"],
            sources=counts["sources"]["count"],
            newest_article=None if newest is None else from_milliseconds(int(newest)),
        )
        return [totals] * len(asked)

    async def newest_titles(self, limit: int) -> tuple[tuple[str, str], ...]:
        page = queries.article_page(ArticleQuery(limit=limit))
        answer = await self._articles.search({**page, "size": limit, "track_total_hits": False, "_source": _HEADINGS})
        found = (hit["_source"] for hit in answer["hits"]["hits"])
        return tuple((one["title"], one["source_name"]) for one in found)

    async def texts(self, ids: Sequence[str]) -> dict[str, str]:
        found = await self._articles.get_many(ids, source=["text", "seen_at"])
        return {id: one.source["text"] or "" for id, one in found.items() if is_complete(one.source)}

    async def iocs_of(self, id: str, limit: int, after: Position | None = None) -> Page[Ioc]:
        answer = await self._sightings.search(queries.sightings_in(id, limit, after))
        hits = answer["hits"]["hits"]
        ids = [hit["_source"]["ioc_id"] for hit in hits[:limit]]
        found = await self._iocs.get_many(ids, source=IOC_MEMBERS)
        items = tuple(ioc_record(found[id].source) for id in ids if id in found and is_there(found[id].source))
        return Page(items, None, Position(tuple(hits[limit - 1]["sort"])) if len(hits) > limit else None)

    async def sightings_of(self, id: str) -> tuple[Sighting, ...]:
        body = {"query": queries.term("article_id", id)}
        pages = self._sightings.pages(body, [{"position": "asc"}, {"ioc_id": "asc"}], _SIGHTINGS_AT_ONCE)
        return tuple([sighting_record(hit["_source"]) async for page in pages for hit in page])

    async def iocs_among(self, id: str, ioc_ids: Sequence[str]) -> dict[str, Ioc]:
        sighted = await self._sightings.get_many([sighting_id(one, id) for one in ioc_ids], source=["ioc_id"])
        found = await self._iocs.get_many([one.source["ioc_id"] for one in sighted.values()], source=IOC_MEMBERS)
        return {id: ioc_record(one.source) for id, one in found.items() if is_there(one.source)}

    async def between(self, start: datetime, end: datetime) -> tuple[Article, ...]:
        body = {"query": queries.since("seen_at", start, end), **_LISTED}
        pages = self._articles.pages(body, [{"seen_at": "asc"}, {"id": "asc"}])
        return tuple([article_record(hit["_source"]) async for page in pages for hit in page])

    async def seen_between(self, start: datetime, end: datetime) -> AsyncIterator[SeenIoc]:
        body = {"query": queries.since("seen_at", start, end), "_source": _SEEN_MEMBERS}
        sort = [{"ioc_id": "asc"}, {"article_id": "asc"}]
        async with aclosing(self._sightings.pages(body, sort, _SIGHTINGS_AT_ONCE)) as pages:
            async for page in pages:
                sightings = [hit["_source"] for hit in page]
                first_seen = await self._first_seen([one["ioc_id"] for one in sightings])
                for number, one in enumerate(sightings):
                    if number % _ROWS_AT_ONCE == 0:
                        await asyncio.sleep(0)  # other requests go on meanwhile
                    if one["ioc_id"] in first_seen:
                        yield seen_ioc(one, first_seen[one["ioc_id"]])

    async def _first_seen(self, ids: Sequence[str]) -> dict[str, str]:
        """Return when those of the indicators that searches see were first seen: from columns, which cost a tenth of
        their documents.
        """
        distinct = list(dict.fromkeys(ids))
        asked = {
            "query": {"bool": {"filter": [{"terms": {"id": distinct}}, queries.THERE]}},
            "size": len(distinct),
            "track_total_hits": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["id", "first_seen"],
        }
        answer = await self._iocs.search(asked, patience=Patience.LONG, filter_path="hits.hits.fields")
        columns = (hit["fields"] for hit in answer["hits"]["hits"])
        return {each["id"][0]: each["first_seen"][0] for each in columns}

    async def tally(
        self, monday: datetime, watch: Collection[Indicator] = (), told: Told = untold, rest_seconds: float = 0.0
    ) -> Tally:
        span = monday, monday + timedelta(weeks=1)
        articles, subjects_in = await self.between(*span), await self._subjects.named_in(*span)
        return await count(monday, articles, subjects_in, self.seen_between(*span), watch, told, rest_seconds)

    async def basis(self, start: datetime, end: datetime) -> str:
        """Return sums that stand for the articles, the sightings and the indicators first seen in the span."""
        marked = ((self._articles, "seen_at"), (self._sightings, "seen_at"), (self._iocs, "first_seen"))
        asked = [index.search({**_SUMS, "query": queries.since(field, start, end)}) for index, field in marked]
        sums = [answer["aggregations"] for answer in await asyncio.gather(*asked)]
        return " ".join(f"{one['count']['value']}:{int(one['sum']['value']):x}" for one in sums)

    async def outline(self, monday: datetime) -> WeekOutline:
        span = monday, monday + timedelta(weeks=1)
        asked = [
            self._articles.search({**_ARTICLES, "query": queries.since("seen_at", *span)}),
            self._iocs.search({**_TYPES_AND_SOURCES, "query": queries.since("last_seen", *span)}),
        ]
        articles, iocs = [answer["aggregations"] for answer in await asyncio.gather(*asked)]
        types = {bucket["key"]: bucket["doc_count"] for bucket in iocs["types"]["buckets"]}
        return WeekOutline(articles["articles"]["value"], iocs["sources"]["value"], types)

    async def weeks(self) -> tuple[datetime, ...]:
        return tuple(await self._weeks(queries.ALL_ARTICLES))

    async def by_week(self, most: int, source: str | None = None) -> dict[datetime, int]:
        weeks = await self._weeks(queries.term("source_name", source) if source else queries.ALL_ARTICLES)
        start = next(iter(weeks), datetime.max) - timedelta(weeks=most - 1)
        return {week: count for week, count in weeks.items() if week >= start}

    async def _weeks(self, only: queries.Query) -> dict[datetime, int]:
        """Return how many articles each week has, newest first."""
        by_week = {"date_histogram": {"field": "seen_at", "calendar_interval": "week", "min_doc_count": 1}}
        query = {"size": 0, "track_total_hits": False, "query": only, "aggs": {"weeks": by_week}}
        oldest_first = (await self._articles.search(query))["aggregations"]["weeks"]["buckets"]
        return {from_milliseconds(bucket["key"]): bucket["doc_count"] for bucket in reversed(oldest_first)}
