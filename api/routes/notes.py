"""`/iocs/{id}/notes` and `/articles/{id}/notes`: what accounts write on records, for accounts alone."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems
from api.auditing import Auditing
from api.bodies import json_body, read_json
from api.limits.policy import access
from api.models import ListModel, NoteBody, NoteModel
from api.noting import ShownNote, add_note, author_name, notes_shown, remove_note
from api.routes.articles import known_article
from api.routes.iocs import known_ioc
from api.service import account_of, noter_of, service_of
from intel.errors import NotFound
from intel.notes import MOST_NOTES
from intel.records import Account
from intel.tags import TaggedKind

router = APIRouter(tags=["annotations"])
_BODY = json_body(NoteBody)


@router.get(
    "/iocs/{id:id}/notes",
    summary="The notes on an indicator, oldest first",
    responses={200: {"model": ListModel[NoteModel]}, **problems(404)},
)
@access(key=True)
async def list_ioc_notes(request: Request, id: str) -> Response:
    await known_ioc(request, id)
    return await _listed(request, id)


@router.get(
    "/articles/{id:id}/notes",
    summary="The notes on an article, oldest first",
    responses={200: {"model": ListModel[NoteModel]}, **problems(404)},
)
@access(key=True)
async def list_article_notes(request: Request, id: str) -> Response:
    await known_article(request, id)
    return await _listed(request, id)


@router.post(
    "/iocs/{id:id}/notes",
    summary="Write a note on an indicator",
    status_code=201,
    responses={201: {"model": NoteModel}, **problems(400, 403, 404, 413, 415, 422)},
    openapi_extra=_BODY,
)
async def note_ioc(request: Request, id: str) -> Response:
    return await _written(request, "ioc", id)


@router.post(
    "/articles/{id:id}/notes",
    summary="Write a note on an article",
    status_code=201,
    responses={201: {"model": NoteModel}, **problems(400, 403, 404, 413, 415, 422)},
    openapi_extra=_BODY,
)
async def note_article(request: Request, id: str) -> Response:
    return await _written(request, "article", id)


@router.delete(
    "/iocs/{id:id}/notes/{note_id:id}",
    summary="Remove your note on an indicator; administrators remove any",
    status_code=204,
    response_class=Response,
    responses=problems(403, 404),
)
async def remove_ioc_note(request: Request, id: str, note_id: str) -> Response:
    return await _removed(request, "ioc", id, note_id)


@router.delete(
    "/articles/{id:id}/notes/{note_id:id}",
    summary="Remove your note on an article; administrators remove any",
    status_code=204,
    response_class=Response,
    responses=problems(403, 404),
)
async def remove_article_note(request: Request, id: str, note_id: str) -> Response:
    return await _removed(request, "article", id, note_id)


async def _listed(request: Request, id: str) -> Response:
    reader = await _account(request, account_of(request))
    items = [one.members for one in await notes_shown(service_of(request).store, id, reader)]
    return json_answer({"items": items, "limit": MOST_NOTES, "total": len(items), "next_cursor": None})


async def _written(request: Request, kind: TaggedKind, id: str) -> Response:
    account_id, service = noter_of(request), service_of(request)
    body = await read_json(request, NoteBody)
    author = await _account(request, account_id)
    audit = Auditing(service.store, author.email, service.clock)
    note = await add_note(service.store, audit, kind, id, account_id, body.text)
    return json_answer(ShownNote(note, author_name(author), own=True, removable=True).members, 201)


async def _removed(request: Request, kind: TaggedKind, id: str, note_id: str) -> Response:
    reader, service = await _account(request, noter_of(request)), service_of(request)
    audit = Auditing(service.store, reader.email, service.clock)
    await remove_note(service.store, audit, kind, id, note_id, reader)
    return Response(status_code=204)


async def _account(request: Request, id: str) -> Account:
    found = await service_of(request).store.accounts.get(id)
    if found is None:
        raise NotFound("This account was removed.")
    return found
