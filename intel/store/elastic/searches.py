"""Saved searches and their deliveries: read by id, changed by compare-and-set."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

from intel.errors import SearchLimitReached
from intel.saved_searches import Delivery, SavedSearch
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import Document, from_document, moment, to_document
from intel.store.elastic.index import Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import any_of, term

_MOST_OF_ACCOUNT = 1_000
_DELIVERIES_AT_ONCE = 50
_ENABLED = {"term": {"enabled": True}}
_TOLD = [{"exists": {"field": "webhook_url"}}, {"exists": {"field": "email"}}]
_PENDING = {"term": {"status": "pending"}}
_LONGEST_DUE = [{"due_at": "asc"}, {"id": "asc"}]


class ElasticDeliveries:
    """`intel.store.searches.Deliveries`."""

    def __init__(self, deliveries: Index) -> None:
        self._deliveries = deliveries

    async def put(self, delivery: Delivery) -> None:
        await self._deliveries.create(delivery.id, to_document(delivery))

    async def get(self, id: str) -> Delivery | None:
        found = await self._deliveries.get(id)
        return None if found is None else from_document(Delivery, found.source)

    async def of(self, search_id: str, limit: int, before: str | None = None) -> tuple[Delivery, ...]:
        await self._deliveries.refresh(Patience.REFRESH)
        older = [] if before is None else [{"range": {"id": {"lt": before}}}]
        asked = {
            "query": {"bool": {"filter": [term("search_id", search_id), *older]}},
            "sort": [{"id": "desc"}],
            "size": limit,
            "track_total_hits": False,
        }
        hits = (await self._deliveries.search(asked))["hits"]["hits"]
        return tuple(from_document(Delivery, hit["_source"]) for hit in hits)

    @retried()
    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Delivery | None:
        found = await self._deliveries.get(id)
        stored = from_document(Delivery, found.source) if found else None
        if found is None or stored is None or stored.status != "pending" or stored.due_at > now:
            return None
        claimed = replace(stored, attempts=stored.attempts + 1, due_at=lease_until)
        if await self._deliveries.replace(found, to_document(claimed)):
            return claimed
        raise TryAgain

    @retried()
    async def update(self, delivery: Delivery) -> bool:
        found = await self._deliveries.get(delivery.id)
        if found is None or found.source["attempts"] != delivery.attempts:
            return False
        if await self._deliveries.replace(found, to_document(delivery)):
            return True
        raise TryAgain

    async def due(self, now: datetime, limit: int) -> tuple[Delivery, ...]:
        await self._deliveries.refresh_own()
        asked = {
            "query": {"bool": {"filter": [_PENDING, {"range": {"due_at": {"lte": moment(now)}}}]}},
            "collapse": {"field": "search_id"},
            "sort": _LONGEST_DUE,
            "size": limit,
            "track_total_hits": False,
        }
        hits = (await self._deliveries.search(asked))["hits"]["hits"]
        return tuple(from_document(Delivery, hit["_source"]) for hit in hits)

    async def count(self, search_id: str) -> tuple[int, int]:
        await self._deliveries.refresh(Patience.REFRESH)
        asked = {
            "query": term("search_id", search_id),
            "size": 0,
            "track_total_hits": True,
            "aggs": {"pending": {"filter": _PENDING}},
        }
        answer = await self._deliveries.search(asked)
        return answer["hits"]["total"]["value"], answer["aggregations"]["pending"]["doc_count"]

    @retried()
    async def remove(self, id: str) -> None:
        found = await self._deliveries.get(id, ["id"])
        if found is not None and not await self._deliveries.delete(found):
            raise TryAgain


class ElasticSearches:
    """`intel.store.searches.SavedSearches`."""

    def __init__(self, searches: Index, deliveries: ElasticDeliveries) -> None:
        self._searches = searches
        self._deliveries = deliveries

    async def add(self, search: SavedSearch, most: int) -> None:
        if len(await self.of(search.account_id)) >= most:
            raise SearchLimitReached(most)
        await self._searches.create(search.id, search_document(search))

    async def get(self, id: str) -> SavedSearch | None:
        found = await self._searches.get(id)
        return None if found is None else from_document(SavedSearch, found.source)

    async def of(self, account_id: str) -> tuple[SavedSearch, ...]:
        by_creation = [{"created_at": "asc"}, {"id": "asc"}]
        return await self._find(term("account_id", account_id), by_creation, _MOST_OF_ACCOUNT)

    @retried()
    async def update(self, search: SavedSearch) -> SavedSearch | None:
        found = await self._searches.get(search.id)
        if found is None or found.source["revision"] != search.revision:
            return None
        written = replace(search, revision=search.revision + 1)
        if await self._searches.replace(found, search_document(written)):
            return written
        raise TryAgain

    @retried()
    async def remove(self, id: str) -> bool:
        found = await self._searches.get(id)
        if found is None:
            return False
        if not await self._searches.delete(found):
            raise TryAgain
        while page := await self._deliveries.of(id, _DELIVERIES_AT_ONCE):
            await asyncio.gather(*(self._deliveries.remove(delivery.id) for delivery in page))
        return True

    async def any_told(self) -> bool:
        await self._searches.refresh_own()
        return bool(await self._seen({"bool": {"filter": [_ENABLED, any_of(_TOLD)]}}, ["_doc"], 1))

    async def behind(self, number: int, now: datetime, limit: int) -> tuple[SavedSearch, ...]:
        by_webhook = [{"exists": {"field": "webhook_url"}}, {"range": {"webhook_number": {"lt": number}}}]
        by_mail = [
            {"exists": {"field": "email"}},
            {"range": {"mail_number": {"lt": number}}},
            {"range": {"mail_due_at": {"lte": moment(now)}}},
        ]
        with_outbox: Document = {"term": {"has_outbox": True}}
        ways: list[Document] = [with_outbox, {"bool": {"filter": by_webhook}}, {"bool": {"filter": by_mail}}]
        leased = {"range": {"lease_ends_at": {"gt": moment(now)}}}
        query = {"bool": {"filter": [_ENABLED, any_of(ways)], "must_not": [leased]}}
        return await self._find(query, [{"id": "asc"}], limit)

    async def _find(self, query: Document, sort: list[Any], limit: int) -> tuple[SavedSearch, ...]:
        await self._searches.refresh()
        return await self._seen(query, sort, limit)

    async def _seen(self, query: Document, sort: list[Any], limit: int) -> tuple[SavedSearch, ...]:
        """Return the first of those that searches see."""
        asked = {"query": query, "sort": sort, "size": limit, "track_total_hits": False}
        hits = (await self._searches.search(asked))["hits"]["hits"]
        return tuple(from_document(SavedSearch, hit["_source"]) for hit in hits)


def search_document(search: SavedSearch) -> Document:
    """Return the search, with whether its outbox holds something where queries find it."""
    return {**to_document(search), "has_outbox": bool(search.outbox)}
