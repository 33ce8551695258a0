"""`/usage`: the caller's buckets."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems
from api.limits.bucket import Decision
from api.limits.policy import access
from api.limits.tiers import Tier
from api.models import UsageModel
from api.service import caller_of, service_of
from intel.times import rfc3339

router = APIRouter(tags=["usage"])


@router.get(
    "/usage", summary="Your key and its buckets; costs nothing", responses={200: {"model": UsageModel}, **problems()}
)
@access(key=True, costs=False, scopes=())
async def get_usage(request: Request) -> Response:
    caller, service = caller_of(request), service_of(request)
    assert caller.identity is not None  # noqa: S101 - the limits refuse a request without a key
    exports = service.tiers.for_export(caller.identity.key_id)
    held = await service.limiter.peek(exports.bucket, exports.tier.rate)
    key_id = caller.identity.key_id.split("-")
    ends = caller.identity.expires_at
    shown: dict[str, Any] = {"key_prefix": f"ioc_{key_id[0]}{key_id[1]}_…", "results_limit": caller.tier.results_cap}
    shown |= {"scopes": caller.identity.scopes, "expires_at": rfc3339(ends) if ends else None}
    return json_answer(shown | {"buckets": [_bucket(caller.tier, caller.decision), _bucket(exports.tier, held)]})


def _bucket(tier: Tier, decision: Decision) -> dict[str, Any]:
    return {
        "name": tier.name,
        "limit": decision.limit,
        "window_seconds": int(tier.rate.seconds),
        "remaining": decision.remaining,
        "reset_seconds": decision.reset_seconds,
    }
