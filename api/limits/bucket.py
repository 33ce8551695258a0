"""The arithmetic of a token bucket; no clock and no storage of its own."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from types import MappingProxyType

# Sums of fractions end a hair below the whole token they stand for; without this a true Retry-After could be refused.
TOLERANCE_TOKENS = 1e-6

_RATE = re.compile(r"\s*([0-9]{1,9})\s*/\s*(second|minute|hour|day)\s*", re.IGNORECASE)
_UNIT_SECONDS = MappingProxyType({"second": 1, "minute": 60, "hour": 3600, "day": 86400})


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket's size and refill: `capacity` tokens, refilled evenly over `seconds`; `policy` names it to clients."""

    capacity: int
    seconds: int
    policy: str = "default"

    @classmethod
    def parse(cls, text: str) -> Rate:
        """Read `100/minute` and its like (second, minute, hour, day); anything else raises ValueError."""
        match = _RATE.fullmatch(text)
        if match is None or int(match[1]) == 0:
            raise ValueError(
                "a rate is a whole number from 1 to 999999999, a slash and second, minute, hour or day,"
                f" such as 100/minute; this is not one: {text[:40]!r}"
            )
        return cls(int(match[1]), _UNIT_SECONDS[match[2].lower()])

    @property
    def tokens_per_second(self) -> float:
        return self.capacity / self.seconds

    def named(self, policy: str) -> Rate:
        return replace(self, policy=policy)


@dataclass(frozen=True, slots=True)
class Bucket:
    """What a bucket held (`tokens`) at `updated_at`, in seconds of whichever clock its keeper uses."""

    tokens: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What a bucket says to one request.

    `remaining` is in whole tokens, `reset_seconds` until the bucket is full, `retry_after_seconds` until one request
    passes (0 for an allowed one, else at least 1); both rounded up.
    """

    allowed: bool
    rate: Rate
    remaining: int
    reset_seconds: int
    retry_after_seconds: int

    @property
    def limit(self) -> int:
        return self.rate.capacity

    @property
    def policy(self) -> str:
        return self.rate.policy


def take(bucket: Bucket | None, rate: Rate, now: float) -> tuple[Bucket, Decision]:
    """Ask for one token; None is a full bucket. A refusal leaves the bucket as it was."""
    held = refill(bucket, rate, now)
    if held.tokens < 1 - TOLERANCE_TOKENS:
        # A clock that was set back counts on from its new time: else nothing would refill until it catches up.
        kept = held if bucket is None or now < bucket.updated_at else bucket
        return kept, decision(False, held.tokens, rate)
    charged = Bucket(max(0.0, held.tokens - 1), held.updated_at)
    return charged, decision(True, charged.tokens, rate)


def give_back(bucket: Bucket | None, rate: Rate, now: float) -> Bucket:
    """Put one token back, up to the rate's capacity."""
    held = refill(bucket, rate, now)
    return Bucket(min(float(rate.capacity), held.tokens + 1), held.updated_at)


def peek(bucket: Bucket | None, rate: Rate, now: float) -> Decision:
    """Return what the bucket would say now; costs nothing."""
    tokens = refill(bucket, rate, now).tokens
    return decision(tokens >= 1 - TOLERANCE_TOKENS, tokens, rate)


def refill(bucket: Bucket | None, rate: Rate, now: float) -> Bucket:
    """Return the bucket as it stands at `now`, never over the rate's capacity."""
    if bucket is None:
        return Bucket(float(rate.capacity), now)
    elapsed = max(0.0, now - bucket.updated_at)
    return Bucket(min(float(rate.capacity), bucket.tokens + elapsed * rate.tokens_per_second), now)


def full_at(bucket: Bucket, rate: Rate, now: float) -> float:
    """Return when the bucket will be full, if nobody takes from it."""
    return now + (rate.capacity - bucket.tokens) / rate.tokens_per_second


def decision(allowed: bool, tokens: float, rate: Rate) -> Decision:
    """Put into words and whole numbers what `tokens` left in a bucket mean for the client."""
    missing = max(0.0, rate.capacity - tokens - TOLERANCE_TOKENS)
    return Decision(
        allowed=allowed,
        rate=rate,
        remaining=math.floor(tokens + TOLERANCE_TOKENS),
        reset_seconds=math.ceil(missing / rate.tokens_per_second),
        retry_after_seconds=0 if allowed else _retry_after_seconds(tokens, rate),
    )


def _retry_after_seconds(tokens: float, rate: Rate) -> int:
    # Half the tolerance stays in hand for the sum that the repeated request will make.
    return max(1, math.ceil((1 - TOLERANCE_TOKENS / 2 - tokens) / rate.tokens_per_second))
