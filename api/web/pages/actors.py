"""`/actors` and `/actor/{name}`: threat actors and campaigns: what ATT&CK says, the articles that name them and what
these name.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from api.web.addresses import actor_path
from api.web.exports import export, is_format
from api.web.names import cve_names
from api.web.visit import Visit, private
from api.web.weekly_bars import WeeklyBars, article_bars
from intel.canonical import canonical
from intel.catalogues.actors import Actor, Names, actor_named, actor_names
from intel.errors import NotAnIndicator, NotFound
from intel.ids import ioc_id
from intel.query import ArticleQuery, parse_search
from intel.records import IOC_TYPES, Article, Ioc
from intel.store import Store
from intel.times import monday_of

_MOST_NAMES = 12
_ARTICLES = 50
_SIFTED, _NAMED = 20, 100
_LISTED = 30
MOST_ARTICLES = 20
_NEWEST = 200


@dataclass(frozen=True, slots=True)
class Named:
    """What the newest articles name, of one type, and how many of them name each; the first 30 of `total`."""

    type: str
    iocs: tuple[tuple[Ioc, int], ...]
    total: int


@dataclass(frozen=True, slots=True)
class Mentioned:
    """An actor that recent articles name: in how many of them, of how many sources, and the newest."""

    name: str
    articles: int
    sources: int
    newest: Article


async def show_all(visit: Visit) -> Response:
    """Show the actors that recent articles name, most of them first, and all names that are known."""
    store = visit.service.store
    names = await actor_names(store)
    page = await store.articles.find(ArticleQuery(limit=_NEWEST))
    return visit.page(
        "actors.html",
        mentioned=mentioned(page.items, names),
        counted=len(page.items),
        names=sorted(set(names.by_key.values()), key=_by_number),
        imported=any(one.name == "attack" for one in await store.catalogues.all()),
    )


def _by_number(name: str) -> list[tuple[int, str]]:
    """Return what puts APT3 before APT28."""
    parts = re.split("([0-9]{1,9})", name.casefold())
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]


def mentioned(articles: Sequence[Article], names: Names) -> list[Mentioned]:
    """Return the actors in titles and summaries of articles (newest first), most articles first, then by name."""
    found: defaultdict[str, list[Article]] = defaultdict(list)
    for article in articles:
        told = f"{article.title}\n{article.summary or ''}"
        for name in {name for *_, name in names.spans(told)}:
            found[name].append(article)
    counted = [Mentioned(name, len(all), len({one.source_name for one in all}), all[0]) for name, all in found.items()]
    return sorted(counted, key=lambda one: (-one.articles, one.name.casefold()))


async def show(visit: Visit) -> Response:
    actor = await known_actor(visit)
    if actor.name != visit.request.path_params["name"]:
        return private(RedirectResponse(actor_path(actor.name), 301))
    store = visit.service.store
    articles = await articles_naming(store, actor)
    if not articles and not actor.id:
        raise NotFound("No article mentions a threat actor by this name.")
    found = await asyncio.gather(*(store.articles.iocs_of(one.id, _NAMED) for one in articles[:_SIFTED]))
    if is_format(format := visit.query.get("format", "")):
        return await export(visit, format, list({ioc.id: ioc for page in found for ioc in page.items}.values()))
    techniques, software = await asyncio.gather(
        _with_articles(store, "mitre_attack", actor.techniques), _with_articles(store, "malware", actor.software)
    )
    return visit.page(
        "actor.html",
        actor=actor,
        techniques=techniques,
        software=software,
        articles=articles[:_ARTICLES],
        more=len(articles) > _ARTICLES,
        sifted=min(len(articles), _SIFTED),
        named=named([page.items for page in found]),
        cve_names=await cve_names(store, [ioc for page in found for ioc in page.items]),
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


async def _with_articles(store: Store, type: str, names: Sequence[str]) -> list[tuple[str, int]]:
    """Return what ATT&CK lists of a type, each with how many articles mention it, most of them first."""
    ids = {name: ioc_id(type, _canonical(type, name)) for name in names}
    stored = await store.iocs.get_many(list(ids.values()))
    counted = [(name, stored[id].sightings if id in stored else 0) for name, id in ids.items()]
    return sorted(counted, key=lambda one: (-one[1], one[0].casefold()))


def _canonical(type: str, name: str) -> str:
    try:
        return canonical(type, name)
    except NotAnIndicator:
        return name


def named(articles: Sequence[Sequence[Ioc]]) -> list[Named]:
    """Return what articles name by type, most of the articles first."""
    counts = Counter(ioc.id for iocs in articles for ioc in iocs)
    every = {ioc.id: ioc for iocs in articles for ioc in iocs}
    order = sorted(every.values(), key=lambda ioc: (-counts[ioc.id], -ioc.sightings, ioc.id))
    by_type = {type: [(ioc, counts[ioc.id]) for ioc in order if ioc.type == type] for type in IOC_TYPES}
    shown = sorted(by_type, key=lambda type: type not in ("malware", "mitre_attack", "cve"))
    return [Named(type, tuple(by_type[type][:_LISTED]), len(by_type[type])) for type in shown if by_type[type]]


def _bars(articles: Sequence[Article]) -> WeeklyBars | None:
    if len(articles) < 2:
        return None
    return article_bars(Counter(monday_of(one.seen_at) for one in articles))
