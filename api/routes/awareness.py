"""`/awareness`: short lessons for everybody."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems, read_listing
from api.models import LessonModel, ListModel
from api.parameters import CursorParameter, LimitParameter, SearchParameter, read_text
from api.service import service_of
from intel.awareness import Lesson, search_lessons
from intel.errors import NotFound
from intel.query import Position
from intel.times import rfc3339

router = APIRouter(tags=["content"])


@router.get(
    "/awareness", summary="Awareness lessons", responses={200: {"model": ListModel[LessonModel]}, **problems(422)}
)
async def list_lessons(
    request: Request, q: SearchParameter = None, limit: LimitParameter = None, cursor: CursorParameter = None
) -> Response:
    listing = read_listing(request, "awareness", {"q": q, "limit": limit}, cursor)
    found = search_lessons(service_of(request).lessons, read_text("q", listing.asked["q"]) or "")
    rest = [lesson for lesson in found if lesson.slug > (listing.after or "")]
    more = Position((rest[listing.count - 1].slug,)) if len(rest) > listing.count else None
    return listing.answer([*map(_show, rest[: listing.count])], len(found), more)


@router.get("/awareness/{slug}", summary="One lesson", responses={200: {"model": LessonModel}, **problems(404)})
async def get_lesson(request: Request, slug: str) -> Response:
    for lesson in service_of(request).lessons:
        if lesson.slug == slug:
            return json_answer(_show(lesson))
    raise NotFound("There is no lesson of this name.")


def _show(lesson: Lesson) -> dict[str, Any]:
    members = asdict(lesson)
    del members["keywords"]
    return members | {"published_at": rfc3339(lesson.published_at)}
