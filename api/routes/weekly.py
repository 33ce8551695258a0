"""`/weekly`: the roundups of ISO weeks, and what earlier revisions of them said."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems, read_listing
from api.conditional import UNCHANGED
from api.formats.markdown import week_markdown
from api.models import ListModel
from api.parameters import CursorParameter, LimitParameter
from api.service import Service, service_of
from api.web.addresses import own_address
from api.week_models import WeekModel, WeekRevisionModel
from intel.query import Position
from intel.records import Week
from intel.times import rfc3339
from intel.weekly import week_ids, week_revision, week_revisions

router = APIRouter(tags=["content"])

_MARKDOWN = "text/markdown; charset=utf-8"
_SUFFIX = ".md"
_OTHER_FORMATS: dict[str, Any] = {"text/markdown": {"schema": {"type": "string"}}}
Format = Literal["json", "md"]
RevisionParameter = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="that revision as it was; default the current one")
]


@router.get(
    "/weekly",
    summary="Weekly roundups, newest first",
    responses={200: {"model": ListModel[WeekModel]}, **problems(422)},
)
async def list_weeks(request: Request, limit: LimitParameter = None, cursor: CursorParameter = None) -> Response:
    listing = read_listing(request, "weekly", {"limit": limit}, cursor)
    service = service_of(request)
    ids = await week_ids(service.store)
    rest = [id for id in ids if listing.after is None or id < listing.after]
    weeks = await service.roundups.current(rest[: listing.count])
    next = Position((weeks[-1].id,)) if len(rest) > listing.count else None
    return listing.answer([*map(week_record, weeks)], len(ids), next)


@router.get(
    "/weekly/{week}",
    summary="One week, as JSON or Markdown",
    responses={200: {"model": WeekModel, "content": _OTHER_FORMATS}, 304: UNCHANGED, **problems(404, 422)},
)
async def get_week(
    request: Request,
    week: str,
    revision: RevisionParameter = None,
    format: Annotated[Format, Query(description="how to answer; `/weekly/2026-W47.md` is Markdown too")] = "json",
) -> Response:
    service = service_of(request)
    id = week.removesuffix(_SUFFIX)
    found = await current(service, id) if revision is None else await week_revision(service.store, id, revision)
    if format == "json" and not week.endswith(_SUFFIX):
        return json_answer(week_record(found))
    written = week_markdown(found, own_address(request, service.settings))
    return Response(written, headers={"Content-Type": _MARKDOWN})


@router.get(
    "/weekly/{week}/revisions",
    summary="The revisions of a week, newest first",
    responses={200: {"model": ListModel[WeekRevisionModel]}, **problems(404, 422)},
)
async def list_week_revisions(
    request: Request, week: str, limit: LimitParameter = None, cursor: CursorParameter = None
) -> Response:
    listing = read_listing(request, f"revisions of {week}", {"limit": limit}, cursor)
    service = service_of(request)
    await current(service, week)
    known = await week_revisions(service.store, week)
    rest = [number for number in known if listing.position is None or number < int(listing.position.values[0])]
    numbers = rest[: listing.count]
    found = await asyncio.gather(*(service.store.weeks.get(week, number) for number in numbers))
    next = Position((numbers[-1],)) if len(rest) > listing.count else None
    return listing.answer([_outline(each) for each in found if each and each.body], len(known), next)


async def current(service: Service, id: str) -> Week:
    """Return a week as it is known now. Raises NotFound for one without articles."""
    (week,) = await service.roundups.current([id])
    return week


def week_record(week: Week) -> dict[str, Any]:
    """Return a week as it is published."""
    return _named(week) | week.body


def _outline(week: Week) -> dict[str, Any]:
    return _named(week) | {name: week.body[name] for name in ("status", "summary")}


def _named(week: Week) -> dict[str, Any]:
    return {"id": week.id, "revision": week.revision, "generated_at": rfc3339(week.generated_at)}
