"""Weeks for readers, who wait for none: a small one is computed when it is asked for, a large one beside.

Until a large week is computed, its latest revision is told; before the first one revision 0, which says what is counted
as articles are written: how many there are, and how many indicators were last seen in the week. It is kept nowhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from intel.awareness import Lesson
from intel.errors import NotFound, StoreUnavailable
from intel.records import Week
from intel.store import Store
from intel.store.outline import WeekOutline
from intel.store.tally import NOTHING
from intel.weekly import kept_week, week_ids, week_start, weekly
from intel.weekly.computing import compute
from intel.weekly.outlook import Outlook
from intel.weekly.weeks import WEEK
from intel.weekly.wording import number

log = structlog.get_logger()

# A reader of an older week that a late article changed computes it then.
_NEWEST_WEEKS = 4
# Articles often come many at a time: what they change is computed once, not for each.
_PAUSE_SECONDS = 30.0
# Beside requests it holds the event loop for no more than half of the time.
_REST_SECONDS = 0.003
# From week to week it rests so many times as long as the week took.
_RESTS_FOR = 20
_LONGEST_REST_SECONDS = 2.0

# What may be computed while a reader waits, in indicators: some tens of milliseconds. The rest of a week's work costs
# as much as some of them.
_AT_ONCE = 3_000
_EACH_WEEK = 50
# Large weeks among so many are computed before anybody asks.
_LOOKED_AT = 60


class Roundups:
    """The weeks of one store; safe for any number of tasks."""

    def __init__(
        self, store: Store, lessons: Sequence[Lesson], clock: Callable[[], datetime], at_once: int = _AT_ONCE
    ) -> None:
        """`at_once` is how many indicators are counted while a reader waits."""
        self._at_once = at_once
        self._store = store
        self._lessons = lessons
        self._clock = clock
        self._wanted: dict[str, None] = {}
        self._computing: asyncio.Task[None] | None = None

    async def current(self, ids: Sequence[str]) -> list[Week]:
        """Return these weeks, each as it is known now. Raises NotFound for a week without articles."""
        weeks, room = [], self._at_once
        for id in ids:
            kept, is_current = await kept_week(self._store, id, self._lessons, self._clock())
            if kept is not None and is_current:
                weeks.append(kept)
                continue
            room -= await self._cost(id) if room > 0 else 0
            if room > 0:
                weeks.append(await weekly(self._store, id, self._lessons, self._clock()))
                continue
            weeks.append(kept or await self._first_told(id))
            self._compute(id)
        return weeks

    async def compute_large(self) -> None:
        """Compute those of the newest weeks that no reader would wait for; it never raises StoreUnavailable."""
        try:
            for id in (await week_ids(self._store))[:_LOOKED_AT]:
                _, is_current = await kept_week(self._store, id, self._lessons, self._clock())
                if not is_current and await self._cost(id) >= self._at_once:
                    self._compute(id)
                # A week is some milliseconds of reads that a store may make without giving way to anybody: whoever has
                # come meanwhile is answered first.
                await asyncio.sleep(_REST_SECONDS)
        except StoreUnavailable:
            return
        if self._computing is not None:
            await self._computing

    async def close(self) -> None:
        """End what is computed beside."""
        self._wanted.clear()
        if self._computing is not None:
            self._computing.cancel()
            await asyncio.gather(self._computing, return_exceptions=True)

    async def _cost(self, id: str) -> int:
        """Return what a week takes to compute, which counts the week before too."""
        start = week_start(id)
        both = [await self._store.articles.outline(start), await self._store.articles.outline(start - WEEK)]
        return _EACH_WEEK + sum(outline.articles + sum(outline.iocs.values()) for outline in both)

    async def _first_told(self, id: str) -> Week:
        start, now = week_start(id), self._clock()
        outline = await self._store.articles.outline(start)
        if not outline.articles:
            raise NotFound("No article was seen in this week.")
        status = "closed" if now >= start + WEEK else "open"
        tally = replace(NOTHING, iocs=outline.iocs)
        return Week(id, 0, "", now, _told(compute(id, status, tally, None, Outlook(), self._lessons), outline))

    def _compute(self, id: str) -> None:
        """Compute a week beside, after those that were wanted before."""
        self._wanted.setdefault(id)
        if self._computing is None or self._computing.done():
            self._computing = asyncio.create_task(self._compute_wanted())

    async def _compute_wanted(self) -> None:
        while self._wanted:
            # Taken out first: who asks while it is computed may know of later articles.
            id = next(iter(self._wanted))
            del self._wanted[id]
            try:
                # Where the store is away, or the week empty by now, who asks for it next has it tried again.
                with contextlib.suppress(StoreUnavailable, NotFound):
                    await _then_rest(weekly(self._store, id, self._lessons, self._clock(), rest_seconds=_REST_SECONDS))
            except Exception:
                log.exception("computing a weekly roundup failed", week=id)


async def _then_rest(work: Awaitable[Week]) -> None:
    """Rest after some work for many times as long, so that few requests meet it: threads share one interpreter."""
    begun = time.monotonic()
    await work
    await asyncio.sleep(min(_LONGEST_REST_SECONDS, _RESTS_FOR * (time.monotonic() - begun)))


def _told(body: dict[str, Any], outline: WeekOutline) -> dict[str, Any]:
    """Return what is said of a week before its first revision."""
    counts = body["counts"] | {"articles": outline.articles, "sources": outline.sources}
    iocs = number(sum(outline.iocs.values()), "indicator")
    summary = (
        f"{number(outline.articles, 'article')}, and {iocs} last seen in this week. The rest is being counted and "
        "follows in a moment."
    )
    return body | {"counts": counts, "summary": summary}


def build_newest_weeks(
    store: Store, lessons: Sequence[Lesson], clock: Callable[[], datetime]
) -> Callable[[], Awaitable[None]]:
    """Return a job that computes those of the newest weeks whose articles changed; it never raises."""

    async def build() -> None:
        try:
            for id in (await week_ids(store))[:_NEWEST_WEEKS]:
                await _then_rest(weekly(store, id, lessons, clock(), rest_seconds=_REST_SECONDS))
        except (StoreUnavailable, NotFound):
            return
        except Exception:
            log.exception("computing the weekly roundups failed")

    return build


async def keep_weeks(*jobs: Callable[[], Awaitable[None]], pause_seconds: float = _PAUSE_SECONDS) -> None:
    """Compute the newest weeks again and again, until cancelled."""
    while True:
        await asyncio.sleep(pause_seconds)
        for job in jobs:
            await job()
