"""`/focus`: the CVEs, malware and techniques that need attention now, and why."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems, read_listing
from api.content_models import FocusDetailModel, FocusModel
from api.models import ListModel
from api.parameters import CursorParameter, LimitParameter, read_choice
from api.service import service_of
from intel.errors import NotFound
from intel.focus import SEVERITIES, STATUSES, rules_up_to
from intel.query import Position

router = APIRouter(tags=["content"])

_ACTIVE = "active"


@router.get(
    "/focus", summary="What needs attention", responses={200: {"model": ListModel[FocusModel]}, **problems(422)}
)
async def list_focus(
    request: Request,
    severity: Annotated[
        str | None, Query(description=f"only these: one or more of {', '.join(SEVERITIES)}, comma-separated")
    ] = None,
    status: Annotated[
        str | None, Query(description="`active` (the default), `stale`, `closed`; several comma-separated")
    ] = None,
    limit: LimitParameter = None,
    cursor: CursorParameter = None,
) -> Response:
    asked = {"severity": severity, "status": status, "limit": limit}
    listing = read_listing(request, "focus", asked, cursor)
    severities = read_choice("severity", listing.asked["severity"], SEVERITIES)
    statuses = read_choice("status", listing.asked["status"] or _ACTIVE, STATUSES)
    service = service_of(request)
    everything = await service.focus.standings(service.clock())
    standings = [one for one in everything if one.severity in severities and one.status in statuses]
    rest = [one for one in standings if listing.position is None or one.place > listing.position.values]
    page = rest[: listing.count]
    more = Position(page[-1].place) if len(rest) > listing.count else None
    return listing.answer(await service.focus.items(page), len(standings), more)


@router.get("/focus/{id}", summary="One subject", responses={200: {"model": FocusDetailModel}, **problems(404)})
async def get_focus(request: Request, id: str) -> Response:
    service = service_of(request)
    standings = [one for one in await service.focus.standings(service.clock()) if one.id == id]
    for item in await service.focus.items(standings):
        return json_answer(item | {"rules": told_rules(item)})
    raise NotFound("Nothing of this id is or was lately in focus.")


def told_rules(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every rule up to the one that decided an item."""
    return [
        {"id": rule.id, "severity": rule.severity, "words": rule.words, "matched": rule.id == item["rule"]}
        for rule in rules_up_to(item["rule"])
    ]
