"""`/actor/{name}`: a threat actor or campaign: what ATT&CK says, the articles that name it and what these name."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from api.web.addresses import actor_path
from api.web.visit import Visit, private
from api.web.weekly_bars import WeeklyBars, article_bars
from intel.catalogues.actors import Actor, actor_named
from intel.errors import NotFound
from intel.query import ArticleQuery, parse_search
from intel.records import IOC_TYPES, Article, Ioc
from intel.store import Store
from intel.times import monday_of

_MOST_NAMES = 12
_ARTICLES = 50
_SIFTED, _NAMED = 20, 100
_LISTED = 30
MOST_ARTICLES = 20


@dataclass(frozen=True, slots=True)
class Named:
    """What the newest articles name, of one type, and how many of them name each; the first 30 of `total`."""

    type: str
    iocs: tuple[tuple[Ioc, int], ...]
    total: int


async def show(visit: Visit) -> Response:
    actor = await known_actor(visit)
    if actor.name != visit.request.path_params["name"]:
        return private(RedirectResponse(actor_path(actor.name), 301))
    store = visit.service.store
    articles = await articles_naming(store, actor)
    if not articles and not actor.id:
        raise NotFound("No article names a threat actor like this.")
    found = await asyncio.gather(*(store.articles.iocs_of(one.id, _NAMED) for one in articles[:_SIFTED]))
    return visit.page(
        "actor.html",
        actor=actor,
        articles=articles[:_ARTICLES],
        more=len(articles) > _ARTICLES,
        sifted=min(len(articles), _SIFTED),
        named=named([page.items for page in found]),
        weekly_bars=_bars(articles),
    )


async def known_actor(visit: Visit) -> Actor:
    """Return the actor that a page is about; raise NotFound where there is none."""
    actor = await actor_named(visit.service.store, visit.request.path_params["name"][:200])
    if actor is None:
        raise NotFound("No threat actor is known by this name.")
    return actor


async def articles_naming(store: Store, actor: Actor) -> list[Article]:
    """Return the newest articles that hold one of an actor's names, as a phrase; at most 51 for each name."""
    names = dict.fromkeys((actor.name, *actor.aliases))
    queries = [ArticleQuery(parse_search(f'"{name}"'), limit=_ARTICLES + 1) for name in list(names)[:_MOST_NAMES]]
    pages = await asyncio.gather(*map(store.articles.find, queries))
    found = {article.id: article for page in pages for article in page.items}
    return sorted(sorted(found.values(), key=lambda one: one.id), key=lambda one: one.seen_at, reverse=True)


def named(articles: Sequence[Sequence[Ioc]]) -> list[Named]:
    """Return what articles name by type, most of the articles first."""
    counts = Counter(ioc.id for iocs in articles for ioc in iocs)
    every = {ioc.id: ioc for iocs in articles for ioc in iocs}
    order = sorted(every.values(), key=lambda ioc: (-counts[ioc.id], -ioc.sightings, ioc.id))
    by_type = {type: [(ioc, counts[ioc.id]) for ioc in order if ioc.type == type] for type in IOC_TYPES}
    shown = sorted(by_type, key=lambda type: type not in ("malware", "mitre_attack", "cve"))
    return [Named(type, tuple(by_type[type][:_LISTED]), len(by_type[type])) for type in shown if by_type[type]]


def _bars(articles: Sequence[Article]) -> WeeklyBars | None:
    return article_bars(Counter(monday_of(one.seen_at) for one in articles))
