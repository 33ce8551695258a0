"""`/awareness`: short lessons for everybody."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems, read_listing
from api.content_models import LessonDetailModel, LessonModel, Topic
from api.models import ListModel
from api.parameters import CursorParameter, LimitParameter, SearchParameter
from api.service import service_of
from intel.awareness import Lesson, Topical, search_lessons, topical_articles
from intel.cards import article_members
from intel.errors import NotFound
from intel.query import Position
from intel.times import rfc3339

router = APIRouter(tags=["content"])


_TOPICAL_SHOWN = 10


@router.get(
    "/awareness", summary="Awareness lessons", responses={200: {"model": ListModel[LessonModel]}, **problems(422)}
)
async def list_lessons(
    request: Request,
    q: SearchParameter = None,
    topic: Annotated[Topic | None, Query(description="only this topic")] = None,
    limit: LimitParameter = None,
    cursor: CursorParameter = None,
) -> Response:
    listing = read_listing(request, "awareness", {"q": q, "topic": topic, "limit": limit}, cursor)
    found = search_lessons(service_of(request).lessons, listing.asked["q"] or "")
    wanted = listing.asked["topic"]
    found = tuple(lesson for lesson in found if wanted in (None, lesson.topic))
    rest = [lesson for lesson in found if lesson.slug > (listing.after or "")]
    more = Position((rest[listing.count - 1].slug,)) if len(rest) > listing.count else None
    return listing.answer([*map(_show, rest[: listing.count])], len(found), more)


@router.get(
    "/awareness/{slug}",
    summary="One lesson, and the articles that make it topical",
    responses={200: {"model": LessonDetailModel}, **problems(404)},
)
async def get_lesson(request: Request, slug: str) -> Response:
    service = service_of(request)
    for lesson in service.lessons:
        if lesson.slug == slug:
            topical = await topical_articles(service.store, lesson, service.clock(), _TOPICAL_SHOWN)
            return json_answer(_show(lesson) | {"topical": [*map(_show_topical, topical)]})
    raise NotFound("There is no lesson of this name.")


def _show(lesson: Lesson) -> dict[str, Any]:
    times = {"published_at": rfc3339(lesson.published_at), "updated_at": rfc3339(lesson.updated_at)}
    return {"id": lesson.slug} | asdict(lesson) | times


def _show_topical(found: Topical) -> dict[str, Any]:
    return {"article": article_members(found.article), "techniques": list(found.techniques)}
