"""`/catalogues`: what was imported of the lists that others publish, and importing one."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import json_answer, problems, read_listing
from api.auditing import for_account
from api.bodies import JSON, media_type_of, read_body
from api.content_models import CatalogueModel, ImportedCatalogueModel
from api.models import ListModel
from api.parameters import CursorParameter, LimitParameter
from api.problems import Problem
from api.service import administrator_of, service_of
from api.uploads import LARGEST_UPLOAD
from ingest.catalogues import CATALOGUES, MEDIA_TYPES, import_catalogue, located_body
from intel.errors import CatalogueUnreadable, NotFound
from intel.query import Position

router = APIRouter(tags=["content"])

_WANTED: Final = "Send the file as it is published: JSON, CSV, gzip or zip, with its media type."


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


@router.put(
    "/catalogues/{name}",
    summary="Import a catalogue",
    description="Administrators alone. KEV, EPSS and ATT&CK replace what was imported before, CVSS scores and warning "
    "lists stand beside it. What cannot be read changes nothing. At most 10 MB, compressed or not.",
    responses={200: {"model": ImportedCatalogueModel}, **problems(403, 404, 413, 415, 422)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                JSON: {"schema": {"$ref": "#/components/schemas/CatalogueBody"}},
                "text/csv": {"schema": {"type": "string"}},
                "application/gzip": {"schema": {"type": "string", "format": "binary"}},
                "application/zip": {"schema": {"type": "string", "format": "binary"}},
            },
        }
    },
)
async def put_catalogue(
    request: Request, name: Annotated[str, Path(description=f"one of {', '.join(CATALOGUES)}")]
) -> Response:
    account_id, service = administrator_of(request), service_of(request)
    if name not in CATALOGUES:
        raise NotFound(f"There is no catalogue of this name; there are {', '.join(CATALOGUES)}.")
    media_type_of(request, MEDIA_TYPES, _WANTED)
    audit = await for_account(service.store, account_id, service.clock)
    with service.uploads.room(account_id):
        body = await read_body(request, LARGEST_UPLOAD)
        try:
            found = await located_body(body, name, "handed in")
            done = await import_catalogue(service.store, name, found, service.clock(), lambda read: None)
        except CatalogueUnreadable as error:
            raise Problem(422, "unreadable_catalogue", str(error)) from None
    about = f"{done.catalogue.entries:,} entries as of {done.catalogue.as_of:%Y-%m-%d}"
    await audit.note("catalogue.imported", name, about)
    return json_answer(views.catalogue(done.catalogue) | {"notes": [*done.notes]})
