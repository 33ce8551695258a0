"""What the page of a malware family tells beside the articles that name it: its indicators, their sources and weeks,
and those that bear its name by a title alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from starlette.responses import Response

from api.annotating import annotate
from api.apart import Apart
from api.web.exports import export, is_format
from api.web.hits import hits, titled
from api.web.said_of import articles_headed
from api.web.visit import Visit
from api.web.weekly_bars import weekly_bars
from intel.names import malware_aliases
from intel.query import IocFilter, IocQuery
from intel.records import Article, ArticleRef, Ioc, Mention
from intel.store import Store

NAMES: Final = ("malware", "mitre_attack", "cve")
_INDICATORS, _NAMED, _SOURCES = 20, 24, 12
MOST_HEADED: Final = 20
_LISTED_TYPES: Final = {"mitre_attack": "Techniques", "cve": "Vulnerabilities"}
# Beyond so many indicators of a family, those of one type are counted and linked, and not listed.
_MOST_SIFTED: Final = 10_000
_MENTIONS: Final = 500
# For the list of those that titles name: read, read at once, and shown in the page.
_MOST_READ: Final = 2_000
_READ_AT_ONCE: Final = 100
_SHOWN: Final = 100


async def family_facts(store: Store, apart: Apart, name: str, mentions: Sequence[Mention]) -> dict[str, Any]:
    """Return what is known of a malware family beside the articles that name it."""
    only = IocFilter(malware=(name,))
    divided = await store.iocs.facets(IocQuery(filter=only))
    types = divided.types if sum(divided.types.values()) > 1 else {}  # its own record says its name, too
    listed = [type for type in _LISTED_TYPES if type in types and sum(types.values()) <= _MOST_SIFTED]
    pages = [await store.iocs.find(IocQuery(filter=replace(only, types=(type,)), limit=_NAMED)) for type in listed]
    values = tuple(type for type in types if type not in NAMES)
    newest = await store.iocs.find(IocQuery(filter=replace(only, types=values), limit=_INDICATORS)) if values else None
    return {
        "aliases": malware_aliases(name),
        "types": types,
        "newest": newest.items if newest else (),
        "sources": list(divided.sources.items())[:_SOURCES],
        "weekly_bars": weekly_bars(divided.weeks, malware=name) if types else None,
        "named": [(_LISTED_TYPES[type], page) for type, page in zip(listed, pages, strict=True)],
        "headed": await _headed(store, apart, names_of(name), mentions),
    }


async def show_titled(visit: Visit, family: Ioc) -> Response:
    """Show the indicators that bear the family's name by the title of their newest article, as a list or as a file."""
    store = visit.service.store
    mentions, _ = await store.iocs.mentions_of(family.id, _MENTIONS)
    names = names_of(family.value)
    headed = await visit.service.apart.run(lambda: list(articles_headed(names, _articles(mentions))))
    iocs, whole = await iocs_of_all(store, headed)
    bearing = await visit.service.apart.run(lambda: _bearing(names, iocs))
    if is_format(format := visit.query.get("format", "")):
        return await export(visit, format, bearing)
    shown = bearing[:_SHOWN]
    return visit.page(
        "titled.html",
        ioc=family,
        count=len(bearing),
        articles=len(headed),
        whole=whole and len(mentions) < _MENTIONS,
        hits=hits(shown, await annotate(store, shown, visit.service.clock())),
    )


async def iocs_of_all(store: Store, articles: Sequence[ArticleRef]) -> tuple[list[Ioc], bool]:
    """Return the indicators of these articles, each once and newest first, and whether these are all."""
    found: dict[str, Ioc] = {}
    read = 0
    for article in articles:
        position = None
        while read < _MOST_READ:
            page = await store.articles.iocs_of(article.id, _READ_AT_ONCE, position)
            read += len(page.items)
            found |= {ioc.id: ioc for ioc in page.items}
            if (position := page.next) is None:
                break
    by_id = sorted(found.values(), key=lambda ioc: ioc.id)
    return sorted(by_id, key=lambda ioc: ioc.last_seen, reverse=True), read < _MOST_READ


def _bearing(names: Set[str], iocs: Iterable[Ioc]) -> list[Ioc]:
    """Return those to which the title of their newest article gives one of the names."""
    return [ioc for ioc in iocs if not names.isdisjoint(titled(ioc))]


def names_of(name: str) -> Set[str]:
    """Return a family's name and its other names."""
    return {name, *malware_aliases(name)}


def _articles(mentions: Iterable[Mention]) -> list[ArticleRef]:
    return [mention.article for mention in mentions]


async def _headed(store: Store, apart: Apart, names: Set[str], mentions: Sequence[Mention]) -> list[Article]:
    """Return the newest articles whose titles name that family alone, so that their indicators bear it."""
    headed = await apart.run(lambda: list(islice(articles_headed(names, _articles(mentions)), MOST_HEADED)))
    found = await store.articles.get_many([article.id for article in headed])
    return [found[article.id] for article in headed if article.id in found]
