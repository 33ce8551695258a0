"""`/extract`: what would be found in a text, a page or a PDF; nothing of it is stored."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems
from api.bodies import JSON, MediaType, media_type_of, parse_json, read_body
from api.extract_models import ExtractBody, ExtractModel
from api.limits.policy import access
from api.problems import Problem
from api.service import Service, account_of, service_of
from api.uploads import LARGEST_UPLOAD
from ingest.body import PLAIN
from ingest.extracting import READABLE, FoundIocs, Handed, find_apart
from intel.errors import IngestFailed

router = APIRouter(tags=["indicators"])

_WANTED: Final = "Send text/plain, text/html, application/pdf, or JSON with the member `text`."


@router.post(
    "/extract",
    summary="Extract the indicators of a text",
    description="What would be found if it were an article. Nothing is stored.",
    responses={200: {"model": ExtractModel}, **problems(400, 413, 415, 422)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                JSON: {"schema": {"$ref": "#/components/schemas/ExtractBody"}},
                **{kind: {"schema": {"type": "string"}} for kind in READABLE},
            },
        }
    },
)
@access(key=True, scopes=("read",))
async def extract_iocs(request: Request) -> Response:
    service, account_id = service_of(request), account_of(request)
    kind = media_type_of(request, (JSON, *READABLE), _WANTED)
    with service.uploads.room(account_id):
        found = await _found(service, account_id, _handed(kind, await read_body(request, LARGEST_UPLOAD)))
    return await service.apart.run(lambda: json_answer({"items": found.items, "total": _total(found)}))


def _handed(kind: MediaType, body: bytes) -> Handed:
    if kind.name == JSON:
        return Handed(parse_json(body, ExtractBody).text.encode(), PLAIN, "utf-8")
    return Handed(body, kind.name, kind.charset)


async def _found(service: Service, account_id: str, handed: Handed) -> FoundIocs:
    try:
        return await find_apart(service.isolation, handed, service.settings.ioc_most_indicators, account_id)
    except IngestFailed as error:
        if error.retryable:
            raise Problem(503, "busy", error.detail, headers={"Retry-After": "5"}) from None
        raise Problem(422, error.reason, error.detail) from None


def _total(found: FoundIocs) -> int:
    return len(found.items) + found.dropped
