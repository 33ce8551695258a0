"""Buckets in this process's memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from api.limits import bucket as arithmetic
from api.limits.bucket import Bucket, Decision, Rate

_SWEEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Kept:
    bucket: Bucket
    full_at: float


class MemoryLimiter:
    """`Limiter` for one process and one event loop.

    Holds at most `max_buckets`; when more are wanted, the one unused for longest is forgotten (and so full again).
    `clock` gives seconds and should be monotonic.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, max_buckets: int = 100_000) -> None:
        self._clock = clock
        self._max_buckets = max_buckets
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._next_sweep = clock() + _SWEEP_SECONDS

    def __len__(self) -> int:
        """Return how many buckets are remembered."""
        return len(self._kept)

    async def take(self, key: str, rate: Rate) -> Decision:
        now = self._clock()
        bucket, decision = arithmetic.take(self._bucket(key), rate, now)
        self._keep(key, bucket, rate, now)
        return decision

    async def peek(self, key: str, rate: Rate) -> Decision:
        return arithmetic.peek(self._bucket(key), rate, self._clock())

    async def give_back(self, key: str, rate: Rate) -> None:
        now = self._clock()
        self._keep(key, arithmetic.give_back(self._bucket(key), rate, now), rate, now)

    async def answers(self) -> bool:
        return True

    async def close(self) -> None:
        self._kept.clear()

    def _bucket(self, key: str) -> Bucket | None:
        kept = self._kept.get(key)
        return kept.bucket if kept else None

    def _keep(self, key: str, bucket: Bucket, rate: Rate, now: float) -> None:
        self._kept[key] = _Kept(bucket, arithmetic.full_at(bucket, rate, now))
        self._kept.move_to_end(key)
        self._forget(now)

    def _forget(self, now: float) -> None:
        if now >= self._next_sweep:
            self._next_sweep = now + _SWEEP_SECONDS
            self._kept = OrderedDict((key, kept) for key, kept in self._kept.items() if kept.full_at > now)
        while len(self._kept) > self._max_buckets:
            self._kept.popitem(last=False)
