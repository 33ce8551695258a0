"""`/healthz`, `/readyz`, `/metrics`: for operators and their machines; never limited."""

from __future__ import annotations

from ipaddress import ip_address

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer
from api.metrics import MEDIA_TYPE
from api.problems import Problem
from api.service import service_of
from api.sources import health_of
from intel.errors import StoreDamaged, StoreUnavailable
from intel.settings import Network

router = APIRouter(include_in_schema=False)

_MOST_FEEDS = 500
_MOST_DUE = 500
_WITHOUT_REDIS = (
    "Redis is out of reach: requests pass, limited by each server for itself, and submissions wait for the next sweep."
)


@router.get("/healthz")
async def healthz() -> Response:
    return json_answer({"status": "alive"})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    service = service_of(request)
    try:
        await service.store.ping()
    except StoreDamaged as damage:
        reasons = {"status": damage.told, "reasons": [damage.told]}
        return json_answer(reasons, 503, {"Retry-After": str(damage.retry_after_seconds)})
    except StoreUnavailable as error:
        reasons = {"status": "waiting for the store", "reasons": [error.told]}
        return json_answer(reasons, 503, {"Retry-After": "2"})
    return json_answer({"status": "ready", "reasons": [] if await service.limiter.answers() else [_WITHOUT_REDIS]})


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    service = service_of(request)
    if not _may_read(request, service.settings.ioc_metrics_allow):
        raise Problem(403, "forbidden", "Metrics are read from the networks in IOC_METRICS_ALLOW only.")
    totals = await service.store.totals()
    service.metrics.stored({"articles": totals.articles, "iocs": totals.iocs}, totals.submissions)
    feeds = [feed for feed in await service.store.feeds.all() if feed.enabled]
    now = service.clock()
    due = await service.store.submissions.due(now, _MOST_DUE)
    service.metrics.waiting(min((one.due_at for one in due), default=None), now)
    service.metrics.imported(await service.store.catalogues.all())
    service.metrics.followed(await health_of(service.store, feeds[:_MOST_FEEDS]))
    return Response(service.metrics.render(), media_type=MEDIA_TYPE)


def _may_read(request: Request, allowed: tuple[Network, ...]) -> bool:
    try:
        peer = ip_address(request.client.host) if request.client else None
    except ValueError:
        return False
    return peer is not None and any(peer in network for network in allowed)
