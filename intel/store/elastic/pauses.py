"""Retry: again at once at first, then after random pauses that grow, until the time is up."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from intel.errors import StoreUnavailable

# A write waits this long for a rebuilt index to take its place.
PATIENCE_SECONDS = 30.0
# What bears repetition is sent again for so long after its answer was lost; its caller waits meanwhile.
LOST_SECONDS = 2.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.01, 0.25

P = ParamSpec("P")
R = TypeVar("R")


class TryAgain(Exception):
    """Another process was quicker, or a request did not pass: the whole attempt begins anew."""


def retried(
    seconds: float = PATIENCE_SECONDS,
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Call a function again while it raises TryAgain; raise StoreUnavailable when the time is up."""

    def decorate(attempt: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @wraps(attempt)
        async def until_done(*args: P.args, **kwargs: P.kwargs) -> R:
            end, longest = time.monotonic() + seconds, _FIRST_PAUSE_SECONDS
            while True:
                try:
                    return await attempt(*args, **kwargs)
                except TryAgain:
                    if time.monotonic() > end:
                        raise StoreUnavailable("the store is too busy at the moment") from None
                await asyncio.sleep(random.uniform(longest / 4, longest))
                longest = min(longest * 1.5, _LONGEST_PAUSE_SECONDS)

        return until_done

    return decorate
