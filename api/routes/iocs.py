"""`/iocs`: list, search, exact value, one by id, and look-up of many."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import json_answer, problems, read_listing
from api.bodies import read_json
from api.formats import render
from api.models import IocDetailModel, IocListModel, IocType, LookupBody, LookupModel
from api.parameters import (
    CursorParameter,
    LimitParameter,
    SearchParameter,
    SourceParameter,
    read_since,
    read_text,
    read_until,
    unless_blank,
)
from api.service import service_of
from intel.errors import NotFound
from intel.ids import ioc_id
from intel.query import IocQuery, exact_value, parse_search
from intel.times import rfc3339

router = APIRouter(tags=["indicators"])

_ARTICLES_SHOWN = 50
_RELATED_SHOWN = 50
Format = Literal["json", "csv", "stix", "txt"]
_OTHER_FORMATS: dict[str, Any] = {
    "text/csv": {"schema": {"type": "string"}},
    "application/stix+json": {"schema": {"type": "object"}},
    "text/plain": {"schema": {"type": "string"}},
}


@router.get(
    "/iocs",
    summary="List or search indicators",
    responses={200: {"model": IocListModel, "content": _OTHER_FORMATS}, **problems(422)},
)
async def list_iocs(
    request: Request,
    q: SearchParameter = None,
    type: Annotated[IocType | None, Query(description="only this type")] = None,
    limit: LimitParameter = None,
    value: Annotated[str | None, Query(description="exact value, plain or defanged")] = None,
    since: Annotated[str | None, Query(description="last seen at or after this date or time")] = None,
    until: Annotated[str | None, Query(description="last seen at or before this date or time")] = None,
    source: SourceParameter = None,
    cursor: CursorParameter = None,
    format: Annotated[Format, Query(description="how to answer")] = "json",
) -> Response:
    asked: dict[str, Any] = {
        "q": q, "type": type, "value": value, "since": since, "until": until, "source": source, "limit": limit
    }  # fmt: skip
    listing = read_listing(request, "iocs", asked, cursor)
    query, shown = _read(listing.asked)
    page = await service_of(request).store.iocs.find(replace(query, limit=listing.count, after=listing.position))
    if format != "json":
        return render(format, page.items)
    return listing.answer([*map(views.ioc, page.items)], page.total, page.next, query=shown)


@router.get("/iocs/{id}", summary="One indicator", responses={200: {"model": IocDetailModel}, **problems(404)})
async def get_ioc(request: Request, id: str) -> Response:
    iocs = service_of(request).store.iocs
    found = await iocs.get(id) if _is_id(id) else None
    if found is None:
        raise NotFound("No indicator has this id.")
    mentions, total = await iocs.mentions_of(id, _ARTICLES_SHOWN)
    related = await iocs.related(id, _RELATED_SHOWN)
    more = {"articles": [*map(views.mention, mentions)], "articles_total": total}
    return json_answer(views.ioc(found) | more | {"related": [*map(views.ioc, related)]})


@router.post(
    "/iocs/lookup",
    summary="Look up to 50 values at once",
    responses={200: {"model": LookupModel}, **problems(400, 413, 415, 422)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LookupBody"}}},
        }
    },
)
async def lookup_iocs(request: Request) -> Response:
    body = await read_json(request, LookupBody)
    wanted = {value: [ioc_id(type, read) for type, read in exact_value(value)] for value in body.values}
    found = await service_of(request).store.iocs.get_many([id for ids in wanted.values() for id in ids])
    items = []
    for value in body.values:
        iocs = [views.ioc(found[id]) for id in wanted[value] if id in found]
        items.append({"value": value, "found": bool(iocs), "iocs": iocs})
    return json_answer({"items": items})


def _read(asked: dict[str, Any]) -> tuple[IocQuery, dict[str, Any]]:
    """What is asked, as a query and as the answer tells how it was read."""
    text = parse_search(asked["q"]) if asked["q"] is not None else None
    value = unless_blank(asked["value"])
    exact = exact_value(value) if value is not None else None
    query = IocQuery(
        text=text,
        type=asked["type"],
        ids=tuple(ioc_id(type, read) for type, read in exact) if exact is not None else None,
        since=read_since(asked["since"]),
        until=read_until(asked["until"]),
        source=read_text("source", asked["source"]),
    )
    reads_as = exact if exact is not None else (text.exact if text else ())
    shown = {
        "text": text.text if text else None,
        "type": query.type,
        "value": value,
        "reads_as": [{"type": type, "value": read} for type, read in reads_as],
        "since": rfc3339(query.since) if query.since else None,
        "until": rfc3339(query.until) if query.until else None,
        "source": query.source,
    }
    return query, shown


def _is_id(id: str) -> bool:
    return len(id) == 36 and id.isascii()
