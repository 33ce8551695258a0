"""How feeds are doing: each with what came of it, for the REST API, the pages and the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from intel.query import ArticleQuery, IocFilter, IocQuery
from intel.records import Feed
from intel.store import Store

_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class FeedHealth:
    """A feed, and how many articles and indicators its source name has."""

    feed: Feed
    articles: int
    iocs: int


async def health_of(store: Store, feeds: Sequence[Feed]) -> list[FeedHealth]:
    """Return the health of these feeds, in their order."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def health(feed: Feed) -> FeedHealth:
        async with slots:
            articles = await store.articles.find(ArticleQuery(source=feed.name, limit=1))
            iocs = await store.iocs.find(IocQuery(filter=IocFilter(sources=(feed.name,)), limit=1))
        return FeedHealth(feed, articles.total or 0, iocs.total or 0)

    return list(await asyncio.gather(*map(health, feeds)))
