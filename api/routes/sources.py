"""`/sources`: the feeds that are followed, and how each is doing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import problems, read_listing
from api.models import ListModel, SourceModel
from api.parameters import CursorParameter, LimitParameter
from api.service import service_of
from api.sources import FeedHealth, health_of
from intel.query import Position

router = APIRouter(tags=["content"])


@router.get(
    "/sources", summary="Feeds and their health", responses={200: {"model": ListModel[SourceModel]}, **problems(422)}
)
async def list_sources(request: Request, limit: LimitParameter = None, cursor: CursorParameter = None) -> Response:
    listing = read_listing(request, "sources", {"limit": limit}, cursor)
    store = service_of(request).store
    feeds = await store.feeds.all()
    after = tuple(listing.position.values) if listing.position else ("", "")
    rest = [feed for feed in feeds if (feed.name, feed.id) > after]
    page = rest[: listing.count]
    more = Position((page[-1].name, page[-1].id)) if len(rest) > listing.count else None
    items = [_show(health) for health in await health_of(store, page)]
    return listing.answer(items, len(feeds), more)


def _show(health: FeedHealth) -> dict[str, Any]:
    return views.feed(health.feed) | {"article_count": health.articles, "ioc_count": health.iocs}
