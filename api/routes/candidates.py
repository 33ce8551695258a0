"""`/articles/{id}/candidates`: all candidates of an article, kept or dropped, and by which rule."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api.answers import problems, read_listing
from api.article_models import CandidateListModel
from api.models import IocType
from api.parameters import CursorParameter, LimitParameter
from api.routes.articles import known_article
from api.service import service_of
from intel.query import CandidateQuery, Position

router = APIRouter(tags=["articles"])

NOT_KEPT = (
    "The candidates of this article were not kept: it was read by an earlier version. Reading it again keeps them."
)

# Places that a former version stored under another name.
_CALLED_NOW = {"furniture": "boilerplate"}


@router.get(
    "/articles/{id:id}/candidates",
    summary="All candidates of an article, kept or dropped, and why",
    responses={200: {"model": CandidateListModel}, **problems(404, 422)},
)
async def list_candidates(
    request: Request,
    id: str,
    kept: Annotated[bool | None, Query(description="only what was kept, or only what was dropped")] = None,
    type: Annotated[IocType | None, Query(description="only this type")] = None,
    limit: LimitParameter = None,
    cursor: CursorParameter = None,
) -> Response:
    listing = read_listing(request, f"candidates {id}", {"kept": kept, "type": type, "limit": limit}, cursor)
    store = service_of(request).store
    article = await known_article(request, id)
    # A walk stays with the revision that it began with.
    revision, after = map(int, listing.position.values) if listing.position else (article.revision, -1)
    asked = CandidateQuery(listing.asked["kept"], listing.asked["type"], listing.count, after)
    page = await store.readings.weighed(id, revision, asked)
    if page is None:
        return listing.answer([], 0, None, revision=revision, notes=[NOT_KEPT])
    next = Position((revision, page.items[-1][0])) if page.more else None
    items = [each | {"place": _CALLED_NOW.get(each["place"], each["place"])} for _, each in page.items]
    return listing.answer(items, page.total, next, revision=revision, notes=[])
