"""`/changes`: what was added, changed and removed since a follower last asked."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.annotating import Annotations, annotate
from api.answers import json_answer, problems
from api.filters import Asked, filtered_in_order, read_filter
from api.limits.policy import access
from api.models import ChangesModel
from api.parameters import unless_blank
from api.service import service_of
from intel.errors import InvalidQuery
from intel.query import ChangePage, ChangePosition, ChangeQuery
from intel.records import Change
from intel.times import rfc3339

router = APIRouter(tags=["indicators"])

_DEFAULT_LIMIT, _MOST = 100, 1_000
_POSITION = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})", re.ASCII)

AfterParameter = Annotated[
    str | None, Query(description="`next` of the answer before; it stays good for ever; absent: from the beginning")
]
LimitParameter = Annotated[int | None, Query(ge=1, description="how many changes; 100 by default, 1,000 at most")]


@router.get(
    "/changes",
    summary="Follow what is added, changed and removed",
    responses={200: {"model": ChangesModel}, **problems(422)},
)
@access(key=True, scopes=("read", "export"))
@filtered_in_order
async def list_changes(
    request: Request,
    after: AfterParameter = None,
    limit: LimitParameter = None,
    *,
    filters: Asked,
) -> Response:
    service = service_of(request)
    query = ChangeQuery(
        after=_read_position(after),
        limit=min(limit or _DEFAULT_LIMIT, _MOST),
        filter=read_filter(filters, service.clock()),
    )
    page = await service.store.iocs.changes(query)
    iocs = [change.ioc for change in page.items if change.ioc is not None]
    noted = await annotate(service.store, iocs, service.clock(), with_notes=True)
    return await asyncio.to_thread(_answer, page, noted, query.limit)


def _answer(page: ChangePage, noted: Annotations, limit: int) -> Response:
    items = [_item(change, noted) for change in page.items]
    return json_answer({"items": items, "limit": limit, "next": _write_position(page.next), "more": page.more})


def _item(change: Change, noted: Annotations) -> dict[str, Any]:
    ioc = views.removed_ioc(change) if change.ioc is None else noted.record(change.ioc)
    return {"event": change.event, "at": rfc3339(change.at), "ioc": ioc}


def _write_position(position: ChangePosition) -> str:
    return base64.urlsafe_b64encode(f"{position.number}.{position.complete}".encode()).rstrip(b"=").decode()


def _read_position(text: str | None) -> ChangePosition:
    """Read a position that an answer gave; InvalidQuery for anything else."""
    text = unless_blank(text)
    if text is None:
        return ChangePosition()
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        raw = ""
    numbers = _POSITION.fullmatch(raw)
    if numbers is None:
        raise InvalidQuery("after", "must be the `next` of an earlier answer; leave it out to begin anew")
    return ChangePosition(int(numbers[1]), int(numbers[2]))
