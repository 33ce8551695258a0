"""`/articles` and `/articles/{id}`: what was read, and one article with its indicators marked in the text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.responses import Response

from api.parameters import read_text, unless_blank
from api.problems import Problem
from api.routes.revisions import NO_ADDRESS
from api.searching import articles_met, articles_suggested
from api.service import check_may_submit
from api.web.addresses import with_query
from api.web.exports import export, is_format
from api.web.marking import marked, part_of
from api.web.visit import Visit
from ingest.revisions import Revisions
from intel.errors import InvalidQuery, NotFound
from intel.query import ArticleQuery, Position, parse_search
from intel.records import IOC_TYPES, Article, Ioc
from intel.snippets import Snippet
from intel.store import Store
from intel.store.walking import iocs_of
from intel.understood import sentence

_LIST = "page of articles"
_LISTED_OF_A_TYPE = 100


@dataclass(frozen=True, slots=True)
class Group:
    """The indicators of one type in an article, the first hundred of them."""

    type: str
    iocs: tuple[Ioc, ...]
    count: int


async def show_all(visit: Visit) -> Response:
    q = (unless_blank(visit.query.get("q")) or "").strip()
    source = read_text("source", visit.query.get("source")) or ""
    asked, limit = {"q": q, "source": source}, visit.limit()
    position = _position(visit, asked)
    query = ArticleQuery(parse_search(q) if q else None, source or None, limit, position)
    store = visit.service.store
    page = await store.articles.find(query)
    nothing = query.text is not None and position is None and not page.items
    next_address = None
    if page.next is not None and visit.signed_in is not None:
        next_address = with_query("/articles", asked | {"cursor": visit.service.cursors.write(_LIST, asked, page.next)})
    return visit.page(
        "articles.html",
        q=q,
        source=source,
        page=page,
        met=snippet_pieces(await articles_met(store, page.items, query.text)),
        read_as=sentence(query.text) if query.text else "",
        suggestions=await _suggestions(store, query, source) if nothing else [],
        totals=await store.totals() if nothing else None,
        next_address=next_address,
        more_for_members=page.next is not None and visit.signed_in is None,
        later=position is not None,
    )


async def _suggestions(store: Store, query: ArticleQuery, source: str) -> list[tuple[str, str]]:
    """Other searches that may have been meant, each with its address."""
    words = await articles_suggested(store, query.text) if query.text else []
    return [(one, with_query("/articles", {"q": one, "source": source})) for one in words]


def snippet_pieces(met: Mapping[str, Sequence[Snippet]]) -> dict[str, dict[str, list[tuple[str, bool]]]]:
    """By article and field: the snippet in pieces, each with whether the search was met in it."""
    return {id: {one.field: _cut(one) for one in snippets} for id, snippets in met.items()}


def _cut(one: Snippet) -> list[tuple[str, bool]]:
    cut, position = [], 0
    for start, end in one.highlights:
        cut += [(one.text[position:start], False), (one.text[start:end], True)]
        position = end
    return [piece for piece in (*cut, (one.text[position:], False)) if piece[0]]


def _position(visit: Visit, asked: dict[str, str]) -> Position | None:
    cursor = visit.query.get("cursor")
    if not cursor or visit.signed_in is None:
        return None
    before, position = visit.service.cursors.read(_LIST, cursor)
    if before != asked:
        raise InvalidQuery("cursor", "belongs to another list")
    return position


async def show_one(visit: Visit) -> Response:
    article = await known_article(visit)
    iocs = tuple([ioc async for ioc in iocs_of(visit.service.store.articles, article.id)])
    if is_format(format := visit.query.get("format", "")):
        return export(format, iocs, article.ref)
    text, start = article.text or "", _start(visit, article)
    part, next_start = part_of(text, start)
    pieces = await asyncio.to_thread(marked, part, {(ioc.type, ioc.value): ioc for ioc in iocs})
    return visit.page(
        "article.html",
        article=replace(article, text=None),
        pieces=pieces,
        start=start,
        next_start=next_start,
        length=len(text),
        groups=groups(iocs),
        iocs=iocs,
        vanished=(await Revisions(visit.service.store).vanished(article))[:_LISTED_OF_A_TYPE],
    )


async def show_elsewhere(visit: Visit) -> Response:
    return visit.go(f"/articles/{(await known_article(visit)).id}")


async def refetch(visit: Visit) -> Response:
    check_may_submit(visit.member.account.role)
    article = await known_article(visit)
    if article.url is None:
        raise Problem(409, "article_without_address", NO_ADDRESS)
    submission = await visit.service.submitting.again(visit.member.account.id, article)
    return visit.go(f"/submissions/{submission.id}")


async def known_article(visit: Visit) -> Article:
    """Return the article that a page is about; raise NotFound where there is none."""
    id = visit.request.path_params["id"]
    found = await visit.service.store.articles.get(id)
    if found is None:
        raise NotFound("There is no such article here.")
    return found


def _start(visit: Visit, article: Article) -> int:
    """Where the part of the text that is asked for begins."""
    asked = visit.query.get("from", "0")
    if not (asked.isascii() and asked.isdigit() and len(asked) < 10):
        return 0
    return int(asked) if int(asked) < len(article.text or "") else 0


def groups(iocs: tuple[Ioc, ...]) -> tuple[Group, ...]:
    """The indicators by type, in the order of the types."""
    by_type = {type: tuple(ioc for ioc in iocs if ioc.type == type) for type in IOC_TYPES}
    return tuple(Group(type, found[:_LISTED_OF_A_TYPE], len(found)) for type, found in by_type.items() if found)
