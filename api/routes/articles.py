"""`/articles`: list, search, and one with its text and indicators."""

from __future__ import annotations

from contextlib import aclosing

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import Listing, problems, read_listing
from api.article_models import ArticleDetailModel, ArticleListModel
from api.article_records import MOST_RECORDS, READ_AT_ONCE, ArticleRecords, article_pieces
from api.auditing import for_account
from api.filters import TagsParameter, TlpsParameter, read_tag_filter, read_tlp_filter
from api.formats import OTHER_FORMATS, render_article
from api.formats.negotiating import negotiated, wanted_format
from api.limits.policy import access
from api.models import IocModel, ListModel
from api.parameters import (
    CursorParameter,
    FormatParameter,
    LimitParameter,
    ManyParameter,
    SearchParameter,
    SourceParameter,
    read_text,
)
from api.searching import articles_shown, articles_suggested, reading, searched
from api.service import account_of, caller_of, role_of, service_of
from api.streaming import JSON, Pieces, streamed
from ingest.removing import Removing
from ingest.revisions import Revisions
from intel.errors import NotFound
from intel.query import ArticleQuery, parse_search
from intel.records import Article
from intel.store.walking import pages_of

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
    tag: TagsParameter = None,
    tlp: TlpsParameter = None,
    cursor: CursorParameter = None,
) -> Response:
    given = {"q": q, "source": source, "tag": tag, "tlp": tlp, "limit": limit}
    listing = read_listing(request, "articles", given, cursor)
    asked = listing.asked
    text = parse_search(asked["q"]) if asked["q"] is not None else None
    source, tags = read_text("source", asked["source"]), read_tag_filter(asked.get("tag"))
    tlps = read_tlp_filter(asked.get("tlp"))
    query = ArticleQuery(text, source, listing.count, listing.position, tags, tlps)
    store = service_of(request).store
    page = await store.articles.find(query)
    items = await articles_shown(store, page.items, text)
    nothing = text is not None and listing.position is None and not items
    return listing.answer(
        items,
        page.total,
        page.next,
        query=reading(text) | {"source": query.source, "tags": query.tags, "tlp": query.tlps},
        suggestions=await articles_suggested(store, text) if nothing and text is not None else [],
        searched=await searched(store) if nothing else None,
    )


@router.get(
    "/articles/{id:id}",
    summary="One article with its text and its first 1,000 indicators, or all of them as CSV, STIX or a plain list",
    responses={200: {"model": ArticleDetailModel, "content": OTHER_FORMATS}, **problems(404, 422)},
)
async def get_article(request: Request, id: str, format: FormatParameter = None) -> Response:
    service = service_of(request)
    found = await known_article(request, id)
    if (wanted := wanted_format(request, format)) != "json":
        pages = pages_of(service.store.articles, id, READ_AT_ONCE)
        return await render_article(wanted, found, pages, service, with_notes=caller_of(request).identity is not None)
    vanished = (await Revisions(service.store).vanished(found))[:MOST_RECORDS]
    shown = views.article(found) | {
        "vanished": [*map(views.vanished, vanished)],
        "iocs_total": found.ioc_count,
    }
    return negotiated(await streamed(article_pieces(service, found, shown), JSON))


@router.get(
    "/articles/{id:id}/iocs",
    summary="All indicators of an article, page by page, in order of first appearance",
    responses={200: {"model": ListModel[IocModel]}, **problems(404, 422)},
)
@access(key=True)
async def list_article_iocs(
    request: Request, id: str, limit: ManyParameter = None, cursor: CursorParameter = None
) -> Response:
    listing = read_listing(request, f"indicators of {id}", {"limit": limit}, cursor, MOST_RECORDS)
    article = await known_article(request, id)
    return await streamed(_page(listing, article.id, article.ioc_count), JSON)


async def _page(listing: Listing, id: str, total: int) -> Pieces:
    records = ArticleRecords(service_of(listing.request), id, listing.count, listing.position)
    yield b'{"items":['
    async with aclosing(records.pieces()) as pieces:
        async for piece in pieces:
            yield piece
    yield b"]," + orjson.dumps(listing.members(total, records.next))[1:]


@router.delete(
    "/articles/{id:id}",
    summary="Remove an article that your account alone submitted; administrators remove any",
    status_code=204,
    response_class=Response,
    responses=problems(403, 404),
)
async def remove_article(request: Request, id: str) -> Response:
    service, account_id = service_of(request), account_of(request)
    await Removing(service.store).remove(account_id, role_of(request), id)
    await (await for_account(service.store, account_id, service.clock)).note("article.removed", id)
    return Response(status_code=204)


async def known_article(request: Request, id: str) -> Article:
    """Return the article with that id; raise NotFound where there is none."""
    found = await service_of(request).store.articles.get(id)
    if found is None:
        raise NotFound("No article has this id.")
    return found
