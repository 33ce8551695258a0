"""`/taxii2/`: everything that is stored as collections of STIX objects, for clients of TAXII 2.1."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.filters import FILTERS, SEVERAL, at, read_filter
from api.filters import Asked as Filters
from api.limits.policy import access
from api.problems import TAXII, TAXII_MEDIA_TYPE, Problem
from api.service import account_of, service_of
from api.taxii.asking import Match, NotUnderstood, read_limit, read_match, read_time, version_of
from api.taxii.collections import STIX_MEDIA_TYPE, Collection, collection_of, collections_of
from api.taxii.messages import check_accepts, message
from api.taxii.pages import Added, Asked, ObjectPage, Place, first_place, read_page
from api.web.addresses import own_address
from intel.errors import InvalidQuery, NotFound
from intel.query import ChangePosition, Position, parse_search
from intel.records import IOC_TYPES

router = APIRouter(prefix=TAXII, include_in_schema=False)

_API = "/api"
_COLLECTION = f"{_API}/collections/{{collection}}"
_MOST_OBJECTS = 1_000
_LARGEST_BODY_BYTES = 256_000
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])


def _route(method: str, path: str) -> Callable[[_Endpoint], _Endpoint]:
    """Add a route for a key's holder; TAXII's addresses end with a slash, which some clients leave out."""

    def add(endpoint: _Endpoint) -> _Endpoint:
        allowed = access(key=True, basic=True, scopes=("read", "export"))(endpoint)
        for each in (f"{path}/", path):
            router.add_api_route(each, allowed, methods=[method])
        return endpoint

    return add


@_route("GET", "")
async def discover(request: Request) -> Response:
    """Answer with the API roots."""
    root = f"{own_address(request, service_of(request).settings)}{TAXII}{_API}/"
    told = {"title": "IOC Intelligence", "description": "Indicators of compromise from threat reports."}
    return _answer(request, told | {"default": root, "api_roots": [root]})


@_route("GET", _API)
async def api_root(request: Request) -> Response:
    """Answer with what the one API root speaks."""
    told = {"title": "IOC Intelligence", "description": "All indicators, for reading."}
    return _answer(request, told | {"versions": [TAXII_MEDIA_TYPE], "max_content_length": _LARGEST_BODY_BYTES})


@_route("GET", f"{_API}/collections")
async def list_collections(request: Request) -> Response:
    """Answer with all collections."""
    found = await collections_of(service_of(request).store, account_of(request))
    return _answer(request, {"collections": [each.told() for each in found]})


@_route("GET", _COLLECTION)
async def get_collection(request: Request, collection: str) -> Response:
    """Answer with one collection."""
    return _answer(request, (await _collection(request, collection)).told())


@_route("GET", f"{_COLLECTION}/manifest")
async def get_manifest(request: Request, collection: str) -> Response:
    """Answer with a page of what is in a collection, without its content."""
    page = await _read(request, await _collection(request, collection))
    return _enveloped(page, "objects", [_entry(each) for each in page.found.items])


@_route("GET", f"{_COLLECTION}/objects")
async def get_objects(request: Request, collection: str) -> Response:
    """Answer with a page of a collection."""
    page = await _read(request, await _collection(request, collection))
    return await asyncio.to_thread(_enveloped, page, "objects", [each.made for each in page.found.items])


@_route("GET", f"{_COLLECTION}/objects/{{object_id}}")
async def get_object(request: Request, collection: str, object_id: str) -> Response:
    """Answer with one object."""
    page = await _read(request, await _collection(request, collection), object_id)
    return _enveloped(page, "objects", [each.made for each in page.found.items])


@_route("GET", f"{_COLLECTION}/objects/{{object_id}}/versions")
async def get_versions(request: Request, collection: str, object_id: str) -> Response:
    """Answer with the versions of an object: the newest one is kept."""
    page = await _read(request, await _collection(request, collection), object_id)
    return _enveloped(page, "versions", [version_of(each.made) for each in page.found.items])


@_route("POST", f"{_COLLECTION}/objects")
async def add_objects(request: Request, collection: str) -> Response:
    """Refuse objects: no collection can be written to."""
    raise await _read_only(request, collection)


@_route("DELETE", f"{_COLLECTION}/objects/{{object_id}}")
async def delete_object(request: Request, collection: str, object_id: str) -> Response:
    """Refuse to delete: no collection can be written to."""
    raise await _read_only(request, collection)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a request asks, with its filters as they came, which its `next` carries."""

    filters: Filters
    asked: Asked


@dataclass(frozen=True, slots=True)
class _Page:
    """A page with the request that it answers."""

    request: Request
    collection: Collection
    filters: Filters
    asked: Asked
    found: ObjectPage


async def _read(request: Request, collection: Collection, object_id: str | None = None) -> _Page:
    """Read the page that a request asks for. NotFound where it names one object that is not there."""
    check_accepts(request)
    service = service_of(request)
    try:
        read = await _asked(request, collection, object_id)
    except NotUnderstood as wrong:
        raise Problem(400, "invalid_parameter", str(wrong)) from None
    page = await read_page(service.store, read.asked, service.settings.base_url)
    if object_id is not None and not page.items:
        await _check_is_there(request, read.asked, object_id)
    return _Page(request, collection, read.filters, read.asked, page)


async def _collection(request: Request, name: str) -> Collection:
    return await collection_of(service_of(request).store, account_of(request), name)


async def _asked(request: Request, collection: Collection, object_id: str | None) -> _Read:
    parameters, service = request.query_params, service_of(request)
    limit = read_limit(parameters.get("limit"), _MOST_OBJECTS)
    list_name = f"taxii {collection.alias} {object_id or ''}"
    if "next" in parameters:
        try:
            said, position = service.cursors.read(list_name, parameters["next"])
        except InvalidQuery:
            raise NotUnderstood("next must be the `next` of an earlier answer for this collection.") from None
        after, filters = said.pop("added_after"), said.pop("filters")
        match = Match(**{name: tuple(values) for name, values in said.items()})
        shared, number, complete = map(int, position.values)
        added_after = None if after is None else read_time("added_after", after)
        place = Place(shared, ChangePosition(number, complete))
    else:
        after = parameters.get("added_after")
        added_after = None if after is None else read_time("added_after", after)
        match, filters = read_match(parameters), _filters(request, collection)
        place = await first_place(service.store, added_after)
    if object_id is not None:
        match = Match((object_id,), match.type, match.version, match.spec_version)
    only = read_filter(filters, service.clock())
    types = tuple(type for type in only.types or IOC_TYPES if type in (collection.filters.get("type") or IOC_TYPES))
    text = parse_search(collection.q) if collection.q else None
    return _Read(filters, Asked(replace(only, types=types), text, match, added_after, limit, place))


def _filters(request: Request, collection: Collection) -> Filters:
    """Return the collection's filters, with those of the address in their place where it has any."""
    given = request.query_params
    asked = {name: given.getlist(name) if name in SEVERAL else given[name] for name in FILTERS if name in given}
    return at({**collection.filters, **asked}, service_of(request).clock())


async def _check_is_there(request: Request, asked: Asked, object_id: str) -> None:
    """Raise NotFound where the object is not there at all, not only left out by a filter."""
    service = service_of(request)
    alone = Asked(asked.filter, asked.text, Match((object_id,)), None, 1, Place())
    if not (await read_page(service.store, alone, service.settings.base_url)).items:
        raise NotFound("No object of this collection has this id.")


def _enveloped(page: _Page, name: str, items: list[Any]) -> Response:
    """Return the page, with when its first and last objects were added; an empty one says the time it was asked for,
    so that who keeps the last one goes on from there.
    """
    body: dict[str, Any] = {name: items} if items else {}
    if (place := page.found.next) is not None:
        after = page.asked.added_after
        said = page.asked.match.members() | {"added_after": after and _time(after), "filters": dict(page.filters)}
        list_name = f"taxii {page.collection.alias} {page.request.path_params.get('object_id', '')}"
        position = Position((place.shared, place.changes.number, place.changes.complete))
        body = {"more": True, "next": service_of(page.request).cursors.write(list_name, said, position), **body}
    elif items:
        body = {"more": False, **body}
    times = [each.at for each in page.found.items] or [time for time in (page.asked.added_after,) if time]
    headers = {"X-TAXII-Date-Added-First": times[0], "X-TAXII-Date-Added-Last": times[-1]} if times else {}
    return message(body, {header: _time(time) for header, time in headers.items()})


def _entry(added: Added) -> dict[str, str]:
    version = version_of(added.made)
    return {"id": added.made["id"], "date_added": _time(added.at), "version": version, "media_type": STIX_MEDIA_TYPE}


def _answer(request: Request, body: dict[str, Any]) -> Response:
    check_accepts(request)
    return message(body, {})


async def _read_only(request: Request, name: str) -> Problem:
    await _collection(request, name)
    check_accepts(request)
    return Problem(403, "forbidden", "Collections are for reading: nothing can be added or deleted here.")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
