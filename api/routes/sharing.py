"""`/articles/{id}/tlp`: how far an article may be passed on."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.annotation_models import SharingBody, SharingModel
from api.answers import json_answer, problems
from api.auditing import for_account
from api.bodies import json_body, read_json
from api.service import administrator_of, service_of
from api.sharing import mark

router = APIRouter(tags=["annotations"])


@router.put(
    "/articles/{id:id}/tlp",
    summary="Say how far an article may be passed on",
    description="Administrators alone. The indicators of the article follow. Read again, the article is as strict as "
    "this at least.",
    responses={200: {"model": SharingModel}, **problems(400, 403, 404, 413, 415, 422)},
    openapi_extra=json_body(SharingBody),
)
async def put_article_tlp(request: Request, id: str) -> Response:
    account_id, service = administrator_of(request), service_of(request)
    body = await read_json(request, SharingBody)
    audit = await for_account(service.store, account_id, service.clock)
    await mark(service.store, audit, id, body.tlp)
    return json_answer({"tlp": body.tlp})
