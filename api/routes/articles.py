"""`/articles`: list, search, and one with its text and indicators."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.annotating import annotate
from api.answers import json_answer, problems, read_listing
from api.formats import OTHER_FORMATS, render
from api.formats.negotiating import negotiated, wanted_format
from api.models import ArticleDetailModel, ArticleListModel
from api.parameters import CursorParameter, FormatParameter, LimitParameter, SearchParameter, SourceParameter, read_text
from api.searching import articles_shown, articles_suggested, reading, searched
from api.service import service_of
from ingest.revisions import Revisions
from intel.errors import NotFound
from intel.query import ArticleQuery, parse_search
from intel.records import Article
from intel.store.walking import iocs_of

router = APIRouter(tags=["articles"])


@router.get(
    "/articles",
    summary="List or search articles, newest first",
    responses={200: {"model": ArticleListModel}, **problems(422)},
)
async def list_articles(
    request: Request,
    q: SearchParameter = None,
    limit: LimitParameter = None,
    source: SourceParameter = None,
    cursor: CursorParameter = None,
) -> Response:
    listing = read_listing(request, "articles", {"q": q, "source": source, "limit": limit}, cursor)
    asked = listing.asked
    text = parse_search(asked["q"]) if asked["q"] is not None else None
    query = ArticleQuery(text, read_text("source", asked["source"]), listing.count, listing.position)
    store = service_of(request).store
    page = await store.articles.find(query)
    items = await articles_shown(store, page.items, text)
    nothing = text is not None and listing.position is None and not items
    return listing.answer(
        items,
        page.total,
        page.next,
        query=reading(text) | {"source": query.source},
        suggestions=await articles_suggested(store, text) if nothing and text is not None else [],
        searched=await searched(store) if nothing else None,
    )


@router.get(
    "/articles/{id:id}",
    summary="One article with its text and all its indicators, or these alone as CSV, STIX or a plain list",
    responses={200: {"model": ArticleDetailModel, "content": OTHER_FORMATS}, **problems(404, 422)},
)
async def get_article(request: Request, id: str, format: FormatParameter = None) -> Response:
    found = await known_article(request, id)
    iocs = [ioc async for ioc in iocs_of(service_of(request).store.articles, id)]
    if (wanted := wanted_format(request, format)) != "json":
        return render(wanted, iocs, found.ref)
    vanished = await Revisions(service_of(request).store).vanished(found)
    noted = await annotate(service_of(request).store, iocs, service_of(request).clock())
    more = {
        "text": found.text or "",
        "vanished": [*map(views.vanished, vanished)],
        "iocs": await asyncio.to_thread(noted.records, iocs),
    }
    return negotiated(json_answer(views.article(found) | more))


async def known_article(request: Request, id: str) -> Article:
    """Return the article with that id; raise NotFound where there is none."""
    found = await service_of(request).store.articles.get(id)
    if found is None:
        raise NotFound("No article has this id.")
    return found
