"""`/sources`: whose articles are read, and when each was last heard of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from starlette.responses import Response

from api.web.visit import Visit
from intel.query import ArticleQuery
from intel.records import Article
from intel.store import Store

_READ_AT_ONCE = 200
_MOST_READ = 1_000


@dataclass(frozen=True, slots=True)
class Source:
    """One source among the newest articles."""

    name: str
    articles: int
    iocs: int
    newest: datetime
    newest_title: str
    newest_id: str


async def show(visit: Visit) -> Response:
    articles = await _newest(visit.service.store)
    totals = await visit.service.store.totals()
    return visit.page("sources.html", sources=sources(articles), counted=len(articles), totals=totals)


async def _newest(store: Store) -> list[Article]:
    articles: list[Article] = []
    query = ArticleQuery(limit=_READ_AT_ONCE)
    while len(articles) < _MOST_READ:
        page = await store.articles.find(query)
        articles += page.items
        if page.next is None:
            break
        query = replace(query, after=page.next)
    return articles


def sources(articles: Sequence[Article]) -> tuple[Source, ...]:
    """The sources of articles that come newest first: most lately heard of first."""
    found: dict[str, Source] = {}
    for article in articles:
        name = article.source_name
        known = found.get(name, Source(name, 0, 0, article.seen_at, article.title, article.id))
        found[name] = replace(known, articles=known.articles + 1, iocs=known.iocs + article.ioc_count)
    return tuple(found.values())
