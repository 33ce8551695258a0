"""`/weekly`: the roundups of ISO weeks."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems, read_listing
from api.models import ListModel, WeekModel
from api.parameters import CursorParameter, LimitParameter
from api.service import service_of
from intel.query import Position
from intel.records import Week
from intel.times import rfc3339
from intel.weekly import week_id, weekly

router = APIRouter(tags=["content"])


@router.get(
    "/weekly",
    summary="Weekly roundups, newest first",
    responses={200: {"model": ListModel[WeekModel]}, **problems(422)},
)
async def list_weeks(request: Request, limit: LimitParameter = None, cursor: CursorParameter = None) -> Response:
    listing = read_listing(request, "weekly", {"limit": limit}, cursor)
    service = service_of(request)
    ids = [week_id(monday) for monday in await service.store.articles.weeks()]
    rest = [id for id in ids if listing.after is None or id < listing.after]
    weeks = [await weekly(service.store, id, service.lessons, service.clock()) for id in rest[: listing.count]]
    next = Position((weeks[-1].id,)) if len(rest) > listing.count else None
    return listing.answer([*map(_show, weeks)], len(ids), next)


@router.get("/weekly/{week}", summary="One week", responses={200: {"model": WeekModel}, **problems(404)})
async def get_week(request: Request, week: str) -> Response:
    service = service_of(request)
    return json_answer(_show(await weekly(service.store, week, service.lessons, service.clock())))


def _show(week: Week) -> dict[str, Any]:
    return {"id": week.id, "revision": week.revision, "generated_at": rfc3339(week.generated_at)} | week.body
