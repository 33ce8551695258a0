"""`/sources`: the feeds that are followed and how each is, and whose articles were read; `/sources/{name}`: one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from starlette.responses import Response

from api.parameters import read_text
from api.trusting import change_trust, read_trust
from api.web.addresses import source_path
from api.web.text import counted
from api.web.visit import Visit
from api.web.weekly_bars import MOST_WEEKS, article_bars, weekly_bars
from intel.confidence import USUAL_TRUST
from intel.errors import Forbidden, InvalidQuery, NotFound
from intel.query import ArticleQuery, IocFilter, IocQuery
from intel.records import Article, Feed
from intel.store import Store

_READ_AT_ONCE = 200
_MOST_READ = 1_000
_ARTICLES, _SHARING = 20, 8
# A poll may wait for a worker; later than this something is wrong with ours, not with the site.
_LATE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Health:
    """How a feed is: one word, and why where that is not plain."""

    word: str
    sentence: str


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
    totals = await visit.service.store.articles.totals()
    return visit.page(
        "sources.html",
        feeds=[(feed, health(feed, visit.service.clock())) for feed in await visit.service.store.feeds.all()],
        sources=sources(articles),
        counted=len(articles),
        totals=totals,
    )


async def show_one(visit: Visit) -> Response:
    return await _shown(visit)


async def trust(visit: Visit) -> Response:
    """Trust the source as far as the form says; administrators alone."""
    if visit.member.account.role != "administrator":
        raise Forbidden("Only administrators may say how far a source is trusted.")
    written = visit.form.get("trust", "")
    try:
        await change_trust(visit.service.store, visit.audit, _name(visit), read_trust(written))
    except InvalidQuery as wrong:
        return await _shown(visit, 422, fault=f"The trust {wrong.message}.", written=written)
    return visit.go(f"{source_path(_name(visit))}#trust")


def _name(visit: Visit) -> str:
    return read_text("source", visit.request.path_params["name"]) or ""


async def _shown(visit: Visit, status: int = 200, fault: str = "", written: str = "") -> Response:
    """Show one source: how much it brings and when, of what types, how much of it is warned of, and who shares it."""
    store, name = visit.service.store, _name(visit)
    only = IocFilter(sources=(name,))
    articles, weeks, divided, unwarned, feeds, trusts = await asyncio.gather(
        store.articles.find(ArticleQuery(source=name, limit=_ARTICLES)),
        store.articles.by_week(MOST_WEEKS, name),
        store.iocs.facets(IocQuery(filter=only)),
        store.iocs.find(IocQuery(filter=replace(only, exclude=("warned",)), limit=1)),
        store.feeds.all(),
        store.trusts.all(),
    )
    followed = [feed for feed in feeds if feed.name == name]
    if not articles.items and not followed:
        raise NotFound("No article of a source with this name is stored here.")
    iocs = sum(divided.types.values())
    sharing = [(other, count) for other, count in divided.sources.items() if other != name]
    return visit.page(
        "source.html",
        status,
        fault=fault,
        written=written,
        trust=trusts.get(name, USUAL_TRUST),
        usual_trust=USUAL_TRUST,
        name=name,
        feeds=[(feed, health(feed, visit.service.clock())) for feed in followed],
        articles=articles,
        types=divided.types,
        iocs=iocs,
        warned=iocs - (unwarned.total or 0),
        sharing=sharing[:_SHARING],
        article_bars=article_bars(weeks),
        weekly_bars=weekly_bars(divided.weeks, source=name),
    )


def health(feed: Feed, now: datetime) -> Health:
    """Return how a feed is, in one word and a sentence."""
    if feed.ended_at is not None:
        return Health("ended", feed.last_error or "The site says that it is gone for good.")
    if not feed.enabled:
        return Health("off", "Polling is turned off.")
    if feed.failures:
        return Health("failing", feed.last_error or f"Its last {counted(feed.failures, 'poll')} failed.")
    if feed.last_success_at is None:
        return Health("new", "Not polled yet.")
    late = now - feed.next_poll_at > _LATE
    return Health("late", "Overdue: it was not polled when it was due.") if late else Health("well", "")


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
    """Return the sources of articles that come newest first: last seen; newest first."""
    found: dict[str, Source] = {}
    for article in articles:
        name = article.source_name
        known = found.get(name, Source(name, 0, 0, article.seen_at, article.title, article.id))
        found[name] = replace(known, articles=known.articles + 1, iocs=known.iocs + article.ioc_count)
    return tuple(found.values())
