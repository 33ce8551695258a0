"""Indicators: found by search, read by id, written only by saving articles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from intel.cards import Card, card_of
from intel.gathering import Gathering
from intel.query import AddedPage, AddedPosition, ChangePage, ChangePosition, ChangeQuery, IocQuery, Page, Position
from intel.records import NEWEST_ARTICLES, Change, Facets, Ioc, Mention
from intel.store.elastic import queries
from intel.store.elastic.cards import stored_card
from intel.store.elastic.changes import Changes
from intel.store.elastic.documents import IOC_MEMBERS, Document, ioc_record, is_there, sighted_article
from intel.store.elastic.index import Index
from intel.store.elastic.malware_names import MalwareNames
from intel.store.port import Votes
from intel.times import from_milliseconds, from_rfc3339, to_milliseconds

_MENTION_MEMBERS = [
    "article_id", "title", "url", "source_name", "source_domain", "published_at", "seen_at", "context",
]  # fmt: skip
# The most buckets that one answer holds; twenty articles with more indicators between them share few of those beyond.
_MOST_RELATED = 60_000
_STREAMED_AT_ONCE: Final = 1_000
_MOST_LISTS: Final = 20
_FACETS_FILTER = "aggregations.*.buckets.key,aggregations.*.buckets.doc_count"
_RELATED_FILTER = "aggregations.iocs.buckets.key,aggregations.iocs.buckets.doc_count"


class ElasticIocs:
    """`intel.store.port.Iocs`."""

    def __init__(self, iocs: Index, sightings: Index, changes: Changes, votes: Votes, names: MalwareNames) -> None:
        self._iocs = iocs
        self._sightings = sightings
        self._changes = changes
        self._votes = votes
        self._malware_names = names
        # Without words in them, so that no search that the cluster refuses fails another.
        self._lists = Gathering(self._pages_of_cards, _MOST_LISTS)

    async def find(self, query: IocQuery) -> Page[Ioc]:
        is_divided = query.facets and query.after is None
        others = [replace(query, filter=only) for only in query.facet_filters] if is_divided else []
        page, divided = await asyncio.gather(self._page(query), asyncio.gather(*map(self.facets, others)))
        return Page(tuple(map(ioc_record, page.items)), page.total, page.next, page.facets, tuple(divided))

    async def find_cards(self, query: IocQuery) -> Page[Card]:
        if query.text is None and query.ids is None:
            return await self._lists(query)
        return await self._of_cards(await self._page(query))

    async def stream(self, query: IocQuery) -> AsyncGenerator[tuple[Ioc, ...], None]:
        asked = queries.ioc_page(replace(query, after=None))
        body = {"query": asked["query"], "_source": IOC_MEMBERS}
        async with aclosing(self._iocs.pages(body, asked["sort"], _STREAMED_AT_ONCE)) as pages:
            async for page in pages:
                yield tuple(ioc_record(hit["_source"]) for hit in page)

    async def get_cards(self, ids: Sequence[str]) -> dict[str, Card]:
        found = [document for document in await self._iocs.sources(ids) if "type" in document]
        return {card.id: card for card in await self._cards(found)}

    async def _page(self, query: IocQuery) -> Page[Document]:
        """Return the documents of one page."""
        if query.ids is not None and query == IocQuery(ids=query.ids, limit=query.limit):
            return await self._page_of(query.ids, query.limit)
        (page,) = await self._pages([query])
        return page

    async def _pages_of_cards(self, asked: Sequence[IocQuery]) -> list[Page[Card]]:
        """Return one page of each list; who asks the same at the same time is given the same answer."""
        distinct = list(dict.fromkeys(asked))
        pages = await asyncio.gather(*map(self._of_cards, await self._pages(distinct)))
        found = dict(zip(distinct, pages, strict=True))
        return [found[query] for query in asked]

    async def _pages(self, asked: Sequence[IocQuery]) -> list[Page[Document]]:
        """Return one page of each query, from one request."""
        searches = [queries.ioc_searches(query) for query in asked]
        answers = iter(await self._iocs.search_many([search for each in searches for search in each]))
        return [_page_in(query, *islice(answers, len(each))) for query, each in zip(asked, searches, strict=True)]

    async def _page_of(self, ids: Sequence[str], limit: int) -> Page[Document]:
        """Return the first page of these indicators, which are read by id: that costs half of a search."""
        found = [one for one in await self._iocs.sources(ids) if "type" in one]
        by_id = sorted(found, key=itemgetter("id"))
        newest = sorted(by_id, key=itemgetter("last_seen"), reverse=True)
        items = tuple(newest[:limit])
        if len(newest) <= limit:
            return Page(items, len(newest), None)
        last_seen = to_milliseconds(from_rfc3339(items[-1]["last_seen"]))
        return Page(items, len(newest), Position((last_seen, items[-1]["id"])))

    async def _of_cards(self, page: Page[Document]) -> Page[Card]:
        return Page(await self._cards(page.items), page.total, page.next, page.facets)

    async def _cards(self, documents: Sequence[Document]) -> tuple[Card, ...]:
        """Return the cards of documents; those that do not hold theirs are made of the record and its votes."""
        held = [stored_card(document) for document in documents]
        ids = [document["id"] for document, card in zip(documents, held, strict=True) if card is None]
        if not ids:
            return tuple(card for card in held if card is not None)
        iocs, votes = await asyncio.gather(self.get_many(ids), self._votes.counts(ids))
        warned = {document["id"] for document in documents if document.get("warned")}
        made = {id: card_of(ioc, votes.get(id, 0), warned=id in warned) for id, ioc in iocs.items()}
        cards = (card or made.get(document["id"]) for document, card in zip(documents, held, strict=True))
        return tuple(card for card in cards if card is not None)

    async def malware_named(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return await self._malware_names.stored(names)

    async def facets(self, query: IocQuery) -> Facets:
        answer = await self._iocs.search(queries.ioc_facets(query), filter_path=_FACETS_FILTER)
        return _facets_in(answer)

    async def changes(self, query: ChangeQuery) -> ChangePage:
        return await self._changes.page(query)

    async def position_at(self, moment: datetime) -> ChangePosition:
        return await self._changes.position_at(moment)

    async def changes_of(self, ids: Sequence[str]) -> dict[str, Change]:
        return await self._changes.of(ids)

    async def newest(self) -> AddedPosition:
        return await self._changes.newest()

    async def added(self, after: AddedPosition, limit: int) -> AddedPage:
        return await self._changes.added(after, limit)

    async def get(self, id: str) -> Ioc | None:
        found = await self._iocs.get(id, IOC_MEMBERS)
        return ioc_record(found.source) if found is not None and is_there(found.source) else None

    async def get_many(self, ids: Sequence[str]) -> dict[str, Ioc]:
        found = await self._iocs.get_many(ids, source=IOC_MEMBERS)
        return {id: ioc_record(one.source) for id, one in found.items() if is_there(one.source)}

    async def stored(self, ids: Sequence[str]) -> frozenset[str]:
        found = await self._iocs.get_many(ids, source=["first_seen"])
        return frozenset(id for id, one in found.items() if is_there(one.source))

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


def _page_in(query: IocQuery, found: Document, *beside: Document) -> Page[Document]:
    """Return the page that the answers to `queries.ioc_searches` hold."""
    hits, limit, rest = found["hits"]["hits"], query.limit, [*beside]
    facets = _facets_in(rest.pop()) if query.facets and query.after is None else None
    counted = rest[0] if rest else None
    total = None if query.after is not None else queries.total_of(limit, found, counted)
    is_ranked = query.text is not None and query.sort is None
    next = queries.position_of(hits[limit - 1]["sort"], searched=is_ranked) if len(hits) > limit else None
    return Page(tuple(hit["_source"] for hit in hits[:limit]), total, next, facets)


def _facets_in(answer: Document) -> Facets:
    """Return what the answer to `queries.ioc_facets` holds."""
    found = answer.get("aggregations", {})
    weeks = found.get("weeks", {}).get("buckets", [])[: queries.MOST_FACET_WEEKS]
    return Facets(
        types=_counts(found.get("types")),
        sources=_counts(found.get("sources")),
        weeks={_week_id(bucket["key"]): bucket["doc_count"] for bucket in weeks},
    )


def _counts(terms: dict[str, Any] | None) -> dict[str, int]:
    return {bucket["key"]: bucket["doc_count"] for bucket in terms["buckets"]} if terms else {}


def _week_id(monday: int) -> str:
    year, week, _ = from_milliseconds(monday).isocalendar()
    return f"{year:04}-W{week:02}"


def _shared(id: str, article_ids: Sequence[str]) -> dict[str, Any]:
    beside = {"filter": [{"terms": {"article_id": article_ids}}], "must_not": [queries.term("ioc_id", id)]}
    shown = {"size": _MOST_RELATED, "shard_size": queries.MOST_OF_A_SHARD}
    by_ioc = {"terms": {"field": "ioc_id", **shown, "execution_hint": "map"}}
    return {"size": 0, "track_total_hits": False, "query": {"bool": beside}, "aggs": {"iocs": by_ioc}}
