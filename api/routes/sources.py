"""`/sources`: the feeds that are followed, how each is doing, and how far their sources are trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.annotation_models import TrustBody, TrustModel
from api.answers import json_answer, problems, read_listing
from api.auditing import for_account
from api.bodies import json_body, read_json
from api.models import ListModel, SourceModel
from api.parameters import CursorParameter, LimitParameter
from api.service import administrator_of, service_of
from api.sources import FeedHealth, health_of
from api.trusting import change_trust
from intel.confidence import USUAL_TRUST
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
    trusts = await store.trusts.all()
    items = [_show(health, trusts) for health in await health_of(store, page)]
    return listing.answer(items, len(feeds), more)


@router.put(
    "/sources/{name:path}/trust",
    summary="Say how far a source is trusted",
    description="Administrators alone. The trust of the most trusted source of an indicator is one of the rules of its "
    "`confidence`. A name that a submitter only claims has no trust: of pages that accounts submit, name the domain.",
    responses={200: {"model": TrustModel}, **problems(400, 403, 413, 415, 422)},
    openapi_extra=json_body(TrustBody),
)
async def put_trust(request: Request, name: str) -> Response:
    account_id, service = administrator_of(request), service_of(request)
    body = await read_json(request, TrustBody)
    audit = await for_account(service.store, account_id, service.clock)
    return json_answer({"name": await change_trust(service.store, audit, name, body.trust), "trust": body.trust})


def _show(health: FeedHealth, trusts: Mapping[str, int]) -> dict[str, Any]:
    counts = {"article_count": health.articles, "ioc_count": health.iocs}
    return views.feed(health.feed) | counts | {"trust": trusts.get(health.feed.name, USUAL_TRUST)}
