"""`/iocs`: list, search, exact value, one by id, and look-up of many."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.annotating import annotate, annotate_cards
from api.answers import Listing, json_answer, problems, read_listing
from api.bodies import json_body, read_json
from api.filters import Asked, at, chosen, filtered, read_fields, read_filter, read_sort, told
from api.formats import OTHER_FORMATS, Format, render
from api.formats.negotiating import negotiated, wanted_format
from api.limits.policy import access
from api.models import IocDetailModel, IocListModel, LookupBody, LookupModel
from api.parameters import (
    CursorParameter,
    FormatParameter,
    LimitParameter,
    SearchParameter,
    ValueParameter,
    unless_blank,
)
from api.query_route import QueryRoute
from api.searching import facets_shown, iocs_suggested, reading, searched
from api.service import caller_of, service_of
from api.voting import votes_shown
from ingest.warned import with_lists
from intel.cards import Card
from intel.catalogues import catalogue_facts
from intel.errors import NotFound
from intel.exact import exact_values
from intel.ids import ioc_id
from intel.query import USUAL_LIMIT, IocQuery, Page, Position, parse_search
from intel.records import Ioc
from intel.store import Store

router = APIRouter(tags=["indicators"], route_class=QueryRoute)

_ARTICLES_SHOWN = 50
_RELATED_SHOWN = 50


@router.get(
    "/iocs",
    summary="List or search indicators",
    responses={200: {"model": IocListModel, "content": OTHER_FORMATS}, **problems(422)},
)
@filtered
async def list_iocs(
    request: Request,
    q: SearchParameter = None,
    limit: LimitParameter = None,
    value: ValueParameter = None,
    cursor: CursorParameter = None,
    facets: Annotated[bool, Query(description="also count by type, source and week; on the first page")] = False,
    format: FormatParameter = None,
    *,
    filters: Asked,
) -> Response:
    service = service_of(request)
    now = service.clock()
    asked = {"q": q, "value": value, "limit": limit, **at(filters, now)}
    listing = read_listing(request, "iocs", asked, cursor)
    query, shown = await read_asked(service.store, listing.asked, now, listing.count, listing.position)
    fields = read_fields(listing.asked)
    if (wanted := wanted_format(request, format)) != "json":
        return await _in_format(listing, query, wanted)
    query = replace(query, facets=True) if facets else query
    page, lists = await with_lists(service.store, service.store.iocs.find_cards(query))
    noted = await annotate_cards(service.store, page.items, now, lists)
    items = chosen(noted.records(page.items, query.text), fields)
    beside = await _beside(listing, query, page)
    return negotiated(listing.answer(items, page.total, page.next, query=shown, **beside))


@router.get("/iocs/{id:id}", summary="One indicator", responses={200: {"model": IocDetailModel}, **problems(404)})
async def get_ioc(request: Request, id: str) -> Response:
    service = service_of(request)
    found = await known_ioc(request, id)
    (mentions, total), related, votes, catalogue = await asyncio.gather(
        service.store.iocs.mentions_of(id, _ARTICLES_SHOWN),
        service.store.iocs.related(id, _RELATED_SHOWN),
        service.store.votes.of(id),
        catalogue_facts(service.store, found.type, found.value),
    )
    noted = await annotate(service.store, (found, *related), service.clock())
    identity = caller_of(request).identity
    return json_answer(
        noted.members(found)
        | {"votes": votes_shown(votes, identity.account_id if identity else None)}
        | {"articles": [*map(views.mention, mentions)], "articles_total": total}
        | {"related": noted.records(related), "catalogue": catalogue, "confidence_of": noted.confidence_of(found)}
    )


@router.post(
    "/iocs/lookup",
    summary="Look up to 1,000 values at once",
    responses={200: {"model": LookupModel}, **problems(400, 413, 415, 422)},
    openapi_extra=json_body(LookupBody),
)
@access(key=True, scopes=("read",))
async def lookup_iocs(request: Request) -> Response:
    body = await read_json(request, LookupBody)
    service = service_of(request)
    named = await exact_values(service.store.iocs, body.values)
    wanted = {value: [ioc_id(type, read) for type, read in found] for value, found in named.items()}
    ids = [id for found in wanted.values() for id in found]
    cards, lists = await with_lists(service.store, service.store.iocs.get_cards(ids))
    noted = await annotate_cards(service.store, [*cards.values()], service.clock(), lists)
    records = {id: noted.record(card) for id, card in cards.items()}
    items = []
    for value in body.values:
        iocs = [records[id] for id in wanted[value] if id in records]
        items.append({"value": value, "found": bool(iocs), "iocs": iocs})
    return json_answer({"items": items, "searched": await searched(service.store)})


async def _in_format(listing: Listing, query: IocQuery, format: Format) -> Response:
    service = service_of(listing.request)
    page = await service.store.iocs.find(query)
    noted = await annotate(service.store, page.items, service.clock())
    answer = render(format, page.items, noted, service.settings.base_url)
    return listing.with_next(answer, page.total, page.next, format=format)


async def known_ioc(request: Request, id: str) -> Ioc:
    """Return the indicator with that id; NotFound where there is none."""
    found = await service_of(request).store.iocs.get(id)
    if found is None:
        raise NotFound("No indicator has this id.")
    return found


async def read_asked(
    store: Store, asked: Asked, now: datetime, limit: int = USUAL_LIMIT, after: Position | None = None
) -> tuple[IocQuery, dict[str, Any]]:
    """Return what is asked, as a query and as the answer tells how it was read."""
    text = parse_search(asked["q"]) if asked["q"] is not None else None
    value = unless_blank(asked["value"])
    exact = (await exact_values(store.iocs, [value]))[value] if value is not None else None
    query = IocQuery(
        text=text,
        filter=read_filter(asked, now),
        ids=tuple(ioc_id(type, read) for type, read in exact) if exact is not None else None,
        sort=read_sort(asked),
        limit=limit,
        after=after,
    )
    return query, reading(text, exact) | {"value": value} | told(query.filter, query.sort, read_fields(asked))


async def _beside(listing: Listing, query: IocQuery, page: Page[Card]) -> dict[str, Any]:
    """Return what the first page says beside its items; where it has none, what was searched and what may have been
    meant.
    """
    store = service_of(listing.request).store
    beside: dict[str, Any] = {"facets": None, "suggestions": [], "searched": None}
    if listing.position is not None:
        return beside
    if page.facets is not None:
        beside["facets"] = facets_shown(page.facets)
    if not page.items:
        beside["searched"] = await searched(store)
        beside["suggestions"] = await iocs_suggested(store, query.text) if query.text else []
    return beside
