"""`/focus`: what several independent sources write about now."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api.answers import problems, read_listing
from api.models import FocusModel, ListModel, Severity
from api.parameters import CursorParameter, LimitParameter
from api.service import service_of
from intel.focus import focus_items, place_of
from intel.query import Position

router = APIRouter(tags=["content"])


@router.get(
    "/focus", summary="What needs attention", responses={200: {"model": ListModel[FocusModel]}, **problems(422)}
)
async def list_focus(
    request: Request,
    severity: Annotated[Severity | None, Query(description="only this severity")] = None,
    limit: LimitParameter = None,
    cursor: CursorParameter = None,
) -> Response:
    listing = read_listing(request, "focus", {"severity": severity, "limit": limit}, cursor)
    wanted = listing.asked["severity"]
    service = service_of(request)
    items = [item for item in await focus_items(service.store, service.clock()) if wanted in (None, item["severity"])]
    rest = [item for item in items if listing.position is None or place_of(item) > listing.position.values]
    page = rest[: listing.count]
    more = Position(place_of(page[-1])) if len(rest) > listing.count else None
    return listing.answer(page, len(items), more)
