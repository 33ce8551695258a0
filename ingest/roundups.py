"""Keep the roundups of the newest weeks computed, so that a reader rarely waits for one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import structlog

from intel.awareness import Lesson
from intel.errors import NotFound, StoreUnavailable
from intel.store import Store
from intel.weekly import week_ids, weekly

log = structlog.get_logger()

# A reader of an older week that a late article changed computes it then.
_NEWEST_WEEKS = 4
# Articles often come many at a time: what they change is computed once, not for each.
_PAUSE_SECONDS = 30.0


def build_newest_weeks(
    store: Store, lessons: Sequence[Lesson], clock: Callable[[], datetime]
) -> Callable[[], Awaitable[None]]:
    """Return a job that computes those of the newest weeks whose articles changed; it never raises."""

    async def build() -> None:
        try:
            for id in (await week_ids(store))[:_NEWEST_WEEKS]:
                await weekly(store, id, lessons, clock())
        except (StoreUnavailable, NotFound):
            return
        except Exception:
            log.exception("computing the weekly roundups failed")

    return build


async def keep_weeks(build: Callable[[], Awaitable[None]], pause_seconds: float = _PAUSE_SECONDS) -> None:
    """Compute the newest weeks again and again, until cancelled."""
    while True:
        await asyncio.sleep(pause_seconds)
        await build()
