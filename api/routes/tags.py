"""`/iocs/{id}/tags` and `/articles/{id}/tags`: words that accounts put on records."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems
from api.auditing import for_account
from api.bodies import json_body, read_json
from api.models import TagsBody, TagsModel
from api.service import service_of, tagger_of
from api.tagging import change_tags
from intel.store.tags import TaggedKind

router = APIRouter(tags=["annotations"])
_BODY = json_body(TagsBody)


@router.post(
    "/iocs/{id:id}/tags",
    summary="Add and remove tags of an indicator",
    responses={200: {"model": TagsModel}, **problems(400, 403, 404, 413, 415, 422)},
    openapi_extra=_BODY,
)
async def tag_ioc(request: Request, id: str) -> Response:
    return await _tag(request, "ioc", id)


@router.post(
    "/articles/{id:id}/tags",
    summary="Add and remove tags of an article",
    responses={200: {"model": TagsModel}, **problems(400, 403, 404, 413, 415, 422)},
    openapi_extra=_BODY,
)
async def tag_article(request: Request, id: str) -> Response:
    return await _tag(request, "article", id)


async def _tag(request: Request, kind: TaggedKind, id: str) -> Response:
    account_id, service = tagger_of(request), service_of(request)
    body = await read_json(request, TagsBody)
    audit = await for_account(service.store, account_id, service.clock)
    return json_answer({"tags": await change_tags(service.store, audit, kind, id, body.add, body.remove)})
