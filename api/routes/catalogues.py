"""`/catalogues`: what was imported of the lists that others publish."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import problems, read_listing
from api.content_models import CatalogueModel
from api.models import ListModel
from api.parameters import CursorParameter, LimitParameter
from api.service import service_of
from intel.query import Position

router = APIRouter(tags=["content"])


@router.get(
    "/catalogues",
    summary="Imported catalogues and the day that each speaks of",
    responses={200: {"model": ListModel[CatalogueModel]}, **problems(422)},
)
async def list_catalogues(request: Request, limit: LimitParameter = None, cursor: CursorParameter = None) -> Response:
    listing = read_listing(request, "catalogues", {"limit": limit}, cursor)
    imported = await service_of(request).store.catalogues.all()
    rest = [each for each in imported if listing.after is None or each.name > listing.after]
    page = rest[: listing.count]
    more = Position((page[-1].name,)) if len(rest) > listing.count else None
    return listing.answer([*map(views.catalogue, page)], len(imported), more)
