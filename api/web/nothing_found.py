"""What helps where nothing was found: what is known nearby, articles with the words, and lists that hold the value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from api.web.near import hosts_of, neighbours_in, network_of
from ingest.warned import Caution, lasting_cautions
from intel.canonical import readings
from intel.errors import InvalidQuery
from intel.query import ArticleQuery, SearchText, parse_search
from intel.records import Article, Ioc
from intel.store import Store

_ARTICLES: Final = 3
_SEVERAL: Final = re.compile(r"[\s,;|]+")
_MOST_VALUES: Final = 20


@dataclass(frozen=True, slots=True)
class Help:
    """`hosts` are stored hosts that the value stands on or below; `network` its /24 or /64 with `neighbours` in it.

    `articles` hold the words (`articles_total` in all); `cautions` are of the value itself; `several` says that it is
    a list of values.
    """

    hosts: tuple[Ioc, ...] = ()
    network: str = ""
    neighbours: int = 0
    articles: tuple[Article, ...] = ()
    articles_total: int = 0
    cautions: tuple[Caution, ...] = ()
    several: bool = False


async def help_for(store: Store, written: str) -> Help:
    """Return what helps with a search that found nothing."""
    try:
        text = parse_search(written)
    except InvalidQuery:
        text = None
    if text is None:
        return Help()
    named = text.exact or tuple(readings(written))
    network = network_of(named)
    articles = await store.articles.find(ArticleQuery(text, limit=_ARTICLES))
    return Help(
        await hosts_of(store, named),
        network,
        await neighbours_in(store, network),
        articles.items,
        articles.total or 0,
        lasting_cautions(*named[0]) if named else (),
        _is_several(text),
    )


def _is_several(text: SearchText) -> bool:
    if text.exact or len(text.clauses) < 2:
        return False
    pieces = [piece for piece in _SEVERAL.split(text.text) if piece][:_MOST_VALUES]
    return sum(bool(readings(piece)) for piece in pieces) >= 2
