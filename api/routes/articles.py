"""`/articles`: list, search, and one with its text and indicators."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import json_answer, problems, read_listing
from api.models import ArticleDetailModel, ArticleModel, ListModel
from api.parameters import CursorParameter, LimitParameter, SearchParameter, SourceParameter, read_text
from api.service import service_of
from intel.errors import NotFound
from intel.query import ArticleQuery, parse_search

router = APIRouter(tags=["articles"])


@router.get(
    "/articles",
    summary="List or search articles, newest first",
    responses={200: {"model": ListModel[ArticleModel]}, **problems(422)},
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
    page = await service_of(request).store.articles.find(query)
    return listing.answer([*map(views.article, page.items)], page.total, page.next)


@router.get(
    "/articles/{id}",
    summary="One article with its text and all its indicators",
    responses={200: {"model": ArticleDetailModel}, **problems(404)},
)
async def get_article(request: Request, id: str) -> Response:
    articles = service_of(request).store.articles
    found = await articles.get(id) if len(id) == 36 and id.isascii() else None
    if found is None:
        raise NotFound("No article has this id.")
    iocs = await articles.iocs_of(id)
    return json_answer(views.article(found) | {"text": found.text or "", "iocs": [*map(views.ioc, iocs)]})
