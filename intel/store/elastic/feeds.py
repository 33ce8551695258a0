"""Feeds: read by id, changed by compare-and-set."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from intel.records import Feed
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import from_document, moment, to_document
from intel.store.elastic.index import Index
from intel.store.elastic.pauses import TryAgain, retried


class ElasticFeeds:
    """`intel.store.port.Feeds`."""

    def __init__(self, feeds: Index) -> None:
        self._feeds = feeds

    async def add(self, feed: Feed) -> bool:
        return await self._feeds.create(feed.id, to_document(feed)) is not None

    async def get(self, id: str) -> Feed | None:
        found = await self._feeds.get(id)
        return None if found is None else from_document(Feed, found.source)

    async def all(self) -> tuple[Feed, ...]:
        await self._feeds.refresh(Patience.REFRESH)
        found = await self._feeds.hits({}, [{"name": "asc"}, {"id": "asc"}])
        return tuple(from_document(Feed, hit["_source"]) for hit in found)

    @retried()
    async def update(self, feed: Feed) -> Feed | None:
        found = await self._feeds.get(feed.id)
        if found is None or found.source["revision"] != feed.revision:
            return None
        written = replace(feed, revision=feed.revision + 1)
        if await self._feeds.replace(found, to_document(written)):
            return written
        raise TryAgain

    @retried()
    async def remove(self, id: str) -> bool:
        found = await self._feeds.get(id)
        if found is None:
            return False
        if await self._feeds.delete(found):
            return True
        raise TryAgain

    @retried()
    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Feed | None:
        found = await self._feeds.get(id)
        stored = from_document(Feed, found.source) if found else None
        if found is None or stored is None or not _is_due(stored, now):
            return None
        claimed = replace(stored, lease_ends_at=lease_until, revision=stored.revision + 1)
        if await self._feeds.replace(found, to_document(claimed)):
            return claimed
        raise TryAgain

    async def due(self, now: datetime, limit: int) -> tuple[Feed, ...]:
        await self._feeds.refresh()
        wanted = [{"term": {"enabled": True}}, {"range": {"next_poll_at": {"lte": moment(now)}}}]
        unwanted = [{"exists": {"field": "ended_at"}}, {"range": {"lease_ends_at": {"gt": moment(now)}}}]
        query = {
            "query": {"bool": {"filter": wanted, "must_not": unwanted}},
            "sort": [{"next_poll_at": "asc"}, {"id": "asc"}],
            "size": limit,
            "track_total_hits": False,
        }
        answer = await self._feeds.search(query)
        return tuple(from_document(Feed, hit["_source"]) for hit in answer["hits"]["hits"])


def _is_due(feed: Feed, now: datetime) -> bool:
    leased = feed.lease_ends_at is not None and feed.lease_ends_at > now
    return feed.enabled and feed.ended_at is None and feed.next_poll_at <= now and not leased
