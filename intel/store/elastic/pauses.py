"""Trying again: at once at first, then after random pauses that grow, until the time is up."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator

from intel.errors import StoreUnavailable

# A write waits this long for a rebuilt index to take its place.
PATIENCE_SECONDS = 30.0
# What bears repetition is sent again for so long after its answer was lost; its caller waits meanwhile.
LOST_SECONDS = 2.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.01, 0.25


async def attempts(seconds: float = PATIENCE_SECONDS) -> AsyncIterator[int]:
    """Numbers attempts from 0, a pause before each but the first; StoreUnavailable when the time is up."""
    end = time.monotonic() + seconds
    longest, number = _FIRST_PAUSE_SECONDS, 0
    while True:
        yield number
        if time.monotonic() > end:
            raise StoreUnavailable("the store is too busy at the moment")
        await asyncio.sleep(random.uniform(longest / 4, longest))
        longest, number = min(longest * 1.5, _LONGEST_PAUSE_SECONDS), number + 1
