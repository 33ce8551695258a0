"""Weekly roundups: computed from the stored articles of one ISO week, and again when these change.

An article belongs to the week of its `published_at`, else `fetched_at`, in UTC. A revision is stored with the `basis`
it was computed from; while the basis stays the same nothing is computed. An article that changes what is published, a
late one too, gives the next revision; earlier revisions stay. An article that is removed takes with it every revision
that was published since it came in: their numbers stay taken, and the next one is computed without it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from intel.awareness import Lesson
from intel.errors import NotFound, StoreUnavailable
from intel.records import Article, Week
from intel.store import Store
from intel.store.tally import Told, untold
from intel.weekly.computing import compute
from intel.weekly.outlook import LOOK_BACK, outlook_basis, read_outlook
from intel.weekly.weeks import WEEK, week_id, week_start

__all__ = ["kept_week", "week_id", "week_ids", "week_revision", "week_revisions", "week_start", "weekly"]

_MOST_REVISIONS_AT_ONCE = 5
# Rises when the members change, so that what an earlier version of this program stored is computed anew.
_SHAPE = 3


async def week_ids(store: Store) -> list[str]:
    """Return the weeks that have articles, newest first."""
    return [week_id(monday) for monday in await store.articles.weeks()]


async def kept_week(store: Store, id: str, lessons: Sequence[Lesson], now: datetime) -> tuple[Week | None, bool]:
    """Return the newest revision of a week that can be read, None without any, and whether nothing changed since."""
    start = week_start(id)
    latest = await store.weeks.get(id)
    if latest is None or not _is_readable(latest.basis):
        return None, False
    return latest, await _is_current(store, latest, await _basis(store, start, now, _status(start, now), lessons))


async def weekly(
    store: Store,
    id: str,
    lessons: Sequence[Lesson],
    now: datetime,
    told: Told = untold,
    rest_seconds: float = 0.0,
) -> Week:
    """Return the current revision of a week, computed first if its articles changed. Raises NotFound for a week without
    articles.

    `told` hears how many sightings of the week, and then of the week before, are counted, and of how many, where they
    are counted one by one. It rests so long after every few hundred of them, for whoever shares the event loop with
    readers.
    """
    start = week_start(id)
    for _ in range(_MOST_REVISIONS_AT_ONCE):
        status = _status(start, now)
        basis = await _basis(store, start, now, status, lessons)
        latest = await store.weeks.get(id)
        if latest is not None and await _is_current(store, latest, basis):
            return latest
        week = await store.articles.tally(start, (), told, rest_seconds)
        if not week.articles:
            raise NotFound("No article was seen in this week.")
        before = await store.articles.tally(start - WEEK, week.told, told, rest_seconds)
        outlook = await read_outlook(store, week, start)
        is_first = await _is_first(store, start)
        # In a thread: a large week takes seconds, and other requests go on meanwhile.
        body = await asyncio.to_thread(compute, id, status, week, None if is_first else before, outlook, lessons)
        if latest is not None and latest.body == body:
            with suppress(StoreUnavailable):
                await store.weeks.confirm(replace(latest, basis=basis))
            return latest
        computed = Week(id, latest.revision + 1 if latest else 1, basis, now, body)
        if await _added(store, computed):
            if await _all_are_there(store, start, week.articles):
                return computed
            # An article was removed meanwhile, too early to take this revision back with it.
            await store.weeks.take_back(now)
    if latest is None or not _is_readable(latest.basis):
        raise StoreUnavailable("the articles of this week keep changing")
    return latest


def _status(start: datetime, now: datetime) -> str:
    return "closed" if now >= start + WEEK else "open"


async def _is_current(store: Store, latest: Week, basis: str) -> bool:
    """Tell whether a revision says what one computed now would."""
    return latest.basis == basis and _was_first(latest) == await _is_first(store, week_start(latest.id))


async def _all_are_there(store: Store, start: datetime, articles: Sequence[Article]) -> bool:
    """Tell whether articles that a week was computed from are still stored."""
    there = {article.id for article in await store.articles.between(start, start + WEEK)}
    return there.issuperset(article.id for article in articles)


async def _added(store: Store, week: Week) -> bool:
    """Store a revision; one that the store cannot take is told all the same and stored another time."""
    try:
        return await store.weeks.add(week)
    except StoreUnavailable:
        return True


async def week_revision(store: Store, id: str, revision: int) -> Week:
    """Return that revision of a week, as it was published. Raises NotFound if there is none."""
    week_start(id)
    found = await store.weeks.get(id, revision)
    if found is None or not _is_readable(found.basis):
        raise NotFound("This week has no such revision.")
    return found


async def week_revisions(store: Store, id: str) -> list[int]:
    """Return the numbers of a week's revisions that can be read, newest first."""
    return [revision for revision, basis in (await store.weeks.bases(id)).items() if _is_readable(basis)]


def _is_readable(basis: str) -> bool:
    """Tell whether a revision has the members of this version: earlier ones published others, and some are taken
    back.
    """
    return basis.split(" ")[-2:-1] == [str(_SHAPE)]


async def _basis(store: Store, start: datetime, now: datetime, status: str, lessons: Sequence[Lesson]) -> str:
    taught = "\n".join(f"{lesson.slug} {lesson.title} {' '.join(lesson.techniques)}" for lesson in lessons)
    told = hashlib.blake2s(taught.encode(), digest_size=4).hexdigest()
    beside = await outlook_basis(store, start, now)
    return f"{await store.articles.basis(start - LOOK_BACK, start + WEEK)} {beside} {status} {_SHAPE} {told}"


def _was_first(week: Week) -> bool:
    """Tell whether a week was published without a trend, as the first of all. Older articles may have come or gone."""
    return week.body.get("trend") is None


async def _is_first(store: Store, start: datetime) -> bool:
    weeks = await store.articles.weeks()
    return not weeks or weeks[-1] >= start
