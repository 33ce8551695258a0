"""`/awareness` and `/awareness/{slug}`: short lessons for everybody."""

from __future__ import annotations

from starlette.responses import Response

from api.web.markdown import lesson_markup
from api.web.visit import Visit
from intel.awareness import TOPICS, search_lessons, topical_articles
from intel.errors import InvalidQuery, NotFound

_TOPICAL_SHOWN = 5


async def show_all(visit: Visit) -> Response:
    q = visit.query.get("q", "")
    topic = visit.query.get("topic", "")
    if topic and topic not in TOPICS:
        raise InvalidQuery("topic", f"must be one of {', '.join(TOPICS)}")
    found = search_lessons(visit.service.lessons, q)
    lessons = [lesson for lesson in found if topic in ("", lesson.topic)]
    return visit.page("awareness.html", q=q, lessons=lessons, topics=TOPICS, topic=topic)


async def show_one(visit: Visit) -> Response:
    slug = visit.request.path_params["slug"]
    for lesson in visit.service.lessons:
        if lesson.slug == slug:
            topical = await topical_articles(visit.service.store, lesson, visit.service.clock(), _TOPICAL_SHOWN)
            return visit.page("lesson.html", lesson=lesson, body=lesson_markup(lesson.body_markdown), topical=topical)
    raise NotFound("There is no lesson of this name.")
