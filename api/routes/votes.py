"""`/iocs/{id}/false-positive`: an account's word that an indicator is a false positive."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems
from api.bodies import json_body, read_json
from api.models import FalsePositiveBody, VotesModel
from api.routes.iocs import known_ioc
from api.service import account_of, service_of
from api.voting import read_note, votes_shown
from intel.records import Vote

router = APIRouter(tags=["indicators"])


@router.put(
    "/iocs/{id:id}/false-positive",
    summary="Call an indicator a false positive, or say anew why",
    responses={200: {"model": VotesModel}, **problems(400, 404, 413, 415, 422)},
    openapi_extra=json_body(FalsePositiveBody, required=False),
)
async def put_vote(request: Request, id: str) -> Response:
    body = await read_json(request, FalsePositiveBody) if _has_body(request) else FalsePositiveBody(note=None)
    service = service_of(request)
    found = await known_ioc(request, id)
    await service.store.votes.put(Vote(found.id, account_of(request), read_note(body.note), service.clock()))
    return await _votes(request, found.id)


@router.delete(
    "/iocs/{id:id}/false-positive",
    summary="Withdraw that",
    responses={200: {"model": VotesModel}, **problems(404)},
)
async def withdraw_vote(request: Request, id: str) -> Response:
    found = await known_ioc(request, id)
    await service_of(request).store.votes.withdraw(found.id, account_of(request))
    return await _votes(request, found.id)


def _has_body(request: Request) -> bool:
    return "transfer-encoding" in request.headers or request.headers.get("content-length", "0") != "0"


async def _votes(request: Request, id: str) -> Response:
    return json_answer(votes_shown(await service_of(request).store.votes.of(id), account_of(request)))
