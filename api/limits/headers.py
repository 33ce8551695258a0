"""What an answer says about its limit, in the dialects that clients read."""

from __future__ import annotations

from api.limits.bucket import Decision

Header = tuple[bytes, bytes]


def limit_headers(decision: Decision) -> list[Header]:
    """Return the headers of every limited answer: IETF `RateLimit-Policy` and `RateLimit`, and `X-RateLimit-*`.

    Times are seconds: `w` the window, `t` and `X-RateLimit-Reset` until the bucket is full.
    """
    policy, reset = decision.policy, decision.reset_seconds
    texts = (
        (b"ratelimit-policy", f'"{policy}";q={decision.limit};w={decision.rate.seconds}'),
        (b"ratelimit", f'"{policy}";r={decision.remaining};t={reset}'),
        (b"x-ratelimit-limit", str(decision.limit)),
        (b"x-ratelimit-remaining", str(decision.remaining)),
        (b"x-ratelimit-reset", str(reset)),
    )
    return [(name, value.encode("ascii")) for name, value in texts]


def retry_after(decision: Decision) -> dict[str, str]:
    """Return the header that a refusal (429) adds: whole seconds after which one request passes."""
    return {"Retry-After": str(decision.retry_after_seconds)}
