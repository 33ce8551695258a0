"""What an answer says about its limit, in the dialects that clients read."""

from __future__ import annotations

from functools import lru_cache

from api.limits.bucket import Decision, Rate

Header = tuple[bytes, bytes]


def limit_headers(decision: Decision) -> list[Header]:
    """Return the headers of every limited answer: IETF `RateLimit-Policy` and `RateLimit`, and `X-RateLimit-*`.

    Times are seconds: `w` the window, `t` and `X-RateLimit-Reset` until the bucket is full.
    """
    (policy, limit), remaining, reset = _lasting(decision.rate), decision.remaining, decision.reset_seconds
    return [
        policy,
        (b"ratelimit", f'"{decision.policy}";r={remaining};t={reset}'.encode("ascii")),
        limit,
        (b"x-ratelimit-remaining", b"%d" % remaining),
        (b"x-ratelimit-reset", b"%d" % reset),
    ]


@lru_cache(maxsize=64)
def _lasting(rate: Rate) -> tuple[Header, Header]:
    """Return the headers that all answers of a tier have."""
    policy = f'"{rate.policy}";q={rate.capacity};w={rate.seconds}'.encode("ascii")
    return (b"ratelimit-policy", policy), (b"x-ratelimit-limit", b"%d" % rate.capacity)


def retry_after(decision: Decision) -> dict[str, str]:
    """Return the header that a refusal (429) adds: whole seconds after which one request passes."""
    return {"Retry-After": str(decision.retry_after_seconds)}
