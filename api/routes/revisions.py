"""`/articles/{id}/refetch` and `/articles/{id}/revisions`: reading an article again, and what it said before."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import json_answer, problems, read_listing
from api.article_records import text_pieces
from api.bodies import read_no_members
from api.models import ListModel
from api.parameters import CursorParameter, LimitParameter
from api.problems import Problem
from api.revision_models import ArticleRevisionModel, RevisionDetailModel
from api.routes.articles import known_article
from api.service import service_of, submitter_of
from api.streaming import JSON, Pieces, streamed
from api.submission_models import SubmissionModel
from ingest.revisions import Revisions
from intel.errors import NotFound
from intel.query import Position
from intel.records import Reading
from intel.times import rfc3339

router = APIRouter(tags=["articles"])

_NAMED_AT_ONCE = 500
NO_ADDRESS = "This article was imported from a file: it has no address to be read from again."


@router.post(
    "/articles/{id:id}/refetch",
    summary="Have a known article read again",
    status_code=202,
    responses={
        202: {"model": SubmissionModel, "description": "Accepted; asking again within the minute changes nothing."},
        **problems(400, 403, 404, 409, 413, 415, 422),
    },
)
async def refetch_article(request: Request, id: str) -> Response:
    account_id = submitter_of(request)
    await read_no_members(request)
    article = await known_article(request, id)
    if article.url is None:
        raise Problem(409, "article_without_address", NO_ADDRESS)
    submission = await service_of(request).submitting.again(account_id, article)
    return json_answer(views.submission(submission), 202, {"Location": f"/api/v1/submissions/{submission.id}"})


@router.get(
    "/articles/{id:id}/revisions",
    summary="What an article said each time it had changed, newest first",
    responses={200: {"model": ListModel[ArticleRevisionModel]}, **problems(404, 422)},
)
async def list_article_revisions(
    request: Request, id: str, limit: LimitParameter = None, cursor: CursorParameter = None
) -> Response:
    listing = read_listing(request, f"revisions {id}", {"limit": limit}, cursor)
    article = await known_article(request, id)
    outlines = await Revisions(service_of(request).store).of(article)
    pairs = [*zip(outlines, (*outlines[1:], None), strict=True)]
    rest = [pair for pair in pairs if listing.position is None or pair[0].revision < int(listing.position.values[0])]
    page = await asyncio.to_thread(lambda: [_outline(*pair) for pair in rest[: listing.count]])
    next = Position((page[-1]["revision"],)) if len(rest) > len(page) else None
    return listing.answer(page, len(outlines), next)


@router.get(
    "/articles/{id:id}/revisions/{revision}",
    summary="One revision with its text and indicators",
    responses={200: {"model": RevisionDetailModel}, **problems(404)},
)
async def get_article_revision(request: Request, id: str, revision: str) -> Response:
    article = await known_article(request, id)
    number = int(revision) if revision.isascii() and revision.isdigit() and len(revision) < 8 else 0
    reading = await Revisions(service_of(request).store).get(article, number)
    if reading is None:
        raise NotFound("The article has no such revision.")
    return await streamed(_pieces(reading), JSON)


async def _pieces(reading: Reading) -> Pieces:
    yield orjson.dumps({"article_id": reading.article_id} | _head(reading))[:-1] + b',"text":"'
    for piece in text_pieces(reading.text or ""):
        yield piece
    yield b'","iocs":['
    for start in range(0, len(reading.iocs), _NAMED_AT_ONCE):
        some = [views.named(*named) for named in reading.iocs[start : start + _NAMED_AT_ONCE]]
        yield (b"," if start else b"") + orjson.dumps(some)[1:-1]
    yield b"]}"


def _head(reading: Reading) -> dict[str, Any]:
    return {
        "revision": reading.revision,
        "fetched_at": rfc3339(reading.fetched_at),
        "title": reading.title,
        "ioc_count": len(reading.iocs),
    }


def _outline(reading: Reading, before: Reading | None) -> dict[str, Any]:
    now, then = set(reading.iocs), set(before.iocs) if before else set()
    return _head(reading) | {"added": len(now - then), "vanished": len(then - now)}
