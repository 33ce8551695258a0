"""`/usage`: the caller's buckets."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.answers import json_answer, problems
from api.limits.policy import access
from api.models import UsageModel
from api.service import caller_of

router = APIRouter(tags=["usage"])


@router.get("/usage", summary="Your buckets; costs nothing", responses={200: {"model": UsageModel}, **problems()})
@access(key=True, costs=False)
async def usage(request: Request) -> Response:
    caller = caller_of(request)
    assert caller.identity is not None  # noqa: S101 - the limits refuse a request without a key
    bucket = {
        "name": caller.tier.name,
        "limit": caller.decision.limit,
        "window_seconds": int(caller.tier.rate.seconds),
        "remaining": caller.decision.remaining,
        "reset_seconds": caller.decision.reset_seconds,
    }
    key_id = caller.identity.key_id.split("-")
    shown = {"key_prefix": f"ioc_{key_id[0]}{key_id[1]}_…", "results_limit": caller.tier.results_cap}
    return json_answer(shown | {"buckets": [bucket]})
