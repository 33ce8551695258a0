"""`/searches`: saved searches, who is told of what is added, and what was sent."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import json_answer, problems, read_listing
from api.bodies import read_json, read_no_members
from api.limits.policy import access
from api.models import ListModel
from api.parameters import CursorParameter, LimitParameter
from api.search_models import DeliveryModel, NewSearchModel, SavedSearchBody, SavedSearchModel, SearchChangesBody
from api.searches.keeping import Keeping
from api.service import account_of, service_of
from intel.query import Position

router = APIRouter(tags=["saved searches"])


def _body(name: str) -> dict[str, Any]:
    schema = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    return {"requestBody": {"required": True, "content": {"application/json": schema}}}


@router.get(
    "/searches", summary="Your saved searches", responses={200: {"model": ListModel[SavedSearchModel]}, **problems(422)}
)
@access(key=True)
async def list_searches(request: Request, limit: LimitParameter = None, cursor: CursorParameter = None) -> Response:
    listing = read_listing(request, "searches", {"limit": limit}, cursor)
    searches = await _keeping(request).all()
    start = int(listing.after or 0)
    page, end = searches[start : start + listing.count], start + listing.count
    next = Position((end,)) if len(searches) > end else None
    return listing.answer([*map(views.saved_search, page)], len(searches), next)


@router.post(
    "/searches",
    summary="Save a search, and be told of what is added from now on",
    status_code=201,
    responses={201: {"model": NewSearchModel}, **problems(400, 409, 413, 415, 422)},
    openapi_extra=_body("SavedSearchBody"),
)
async def save_search(request: Request) -> Response:
    body = await read_json(request, SavedSearchBody)
    saved = await _keeping(request).save(body.asked())
    headers = {"Location": f"/api/v1/searches/{saved.id}"}
    return json_answer(views.saved_search(saved) | {"secret": saved.secret}, 201, headers)


@router.get(
    "/searches/{id:id}", summary="A saved search", responses={200: {"model": SavedSearchModel}, **problems(404)}
)
@access(key=True)
async def get_search(request: Request, id: str) -> Response:
    return json_answer(views.saved_search(await _keeping(request).get(id)))


@router.patch(
    "/searches/{id:id}",
    summary="Change a saved search",
    responses={200: {"model": SavedSearchModel}, **problems(400, 404, 413, 415, 422)},
    openapi_extra=_body("SearchChangesBody"),
)
async def change_search(request: Request, id: str) -> Response:
    body = await read_json(request, SearchChangesBody)
    return json_answer(views.saved_search(await _keeping(request).change(id, body.asked())))


@router.delete("/searches/{id:id}", summary="Delete a saved search", status_code=204, responses=problems(404))
async def delete_search(request: Request, id: str) -> Response:
    await _keeping(request).remove(id)
    return Response(status_code=204)


@router.get(
    "/searches/{id:id}/deliveries",
    summary="What was sent of a saved search, newest first",
    responses={200: {"model": ListModel[DeliveryModel]}, **problems(404, 422)},
)
@access(key=True)
async def list_deliveries(
    request: Request, id: str, limit: LimitParameter = None, cursor: CursorParameter = None
) -> Response:
    listing = read_listing(request, f"deliveries {id}", {"limit": limit}, cursor)
    search = await _keeping(request).get(id)
    store = service_of(request).store
    found = await store.deliveries.of(search.id, listing.count + 1, listing.after)
    page = found[: listing.count]
    total, _ = await store.deliveries.count(search.id)
    next = Position((page[-1].id,)) if len(found) > listing.count else None
    return listing.answer([*map(views.delivery, page)], total, next)


@router.post(
    "/searches/{id:id}/deliveries/{delivery_id}/again",
    summary="Send that again",
    status_code=202,
    responses={202: {"model": DeliveryModel}, **problems(404, 413, 415, 422)},
)
async def deliver_again(request: Request, id: str, delivery_id: str) -> Response:
    await read_no_members(request)
    return json_answer(views.delivery(await _keeping(request).again(id, delivery_id)), 202)


def _keeping(request: Request) -> Keeping:
    service = service_of(request)
    return Keeping(service.store, account_of(request), service.submitting.fetch_allow, service.clock)
