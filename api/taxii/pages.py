"""Pages of a collection: its objects in order of `date_added`, which is the order of the feed of changes.

Every change of an indicator makes one object at most, added at the change's own moment: so no two objects share a
`date_added`, and who goes on after the last one it was given misses nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from api.formats.stix import STIX_TYPES, Object, revoked, shared_objects, stix_object
from api.taxii.asking import Match
from intel.query import ChangePosition, ChangeQuery, IocFilter, IocQuery, SearchText
from intel.records import Change
from intel.store import Store

# Before every change: what all other objects refer to comes first.
_SHARED_SINCE = datetime(2026, 1, 1, tzinfo=UTC)
_INDICATORS = STIX_TYPES["indicator"]
_CHANGES_AT_ONCE = 1_000
_MADE_IN_A_TURN = 50
_BEGINNING = ChangePosition()
# Where so many changes in turn make no object that is asked for, the client asks again.
_MOST_CHANGES = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """How far a reader of a collection has come: through the shared objects, and through the changes."""

    shared: int = 0
    changes: ChangePosition = _BEGINNING
    goes_on: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a collection: objects of what the filter lets through (its types are given) and the words find
    that match, added after a time, from a place on.
    """

    filter: IocFilter
    text: SearchText | None
    match: Match
    added_after: datetime | None
    limit: int
    place: Place


@dataclass(frozen=True, slots=True)
class Added:
    """An object and when it was added."""

    at: datetime
    made: Object


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Objects in order of addition; `next` is None where nothing more is known of."""

    items: tuple[Added, ...]
    next: Place | None


async def first_place(store: Store, added_after: datetime | None) -> Place:
    """Return where reading begins."""
    if added_after is None or added_after < _SHARED_SINCE:
        return Place()
    return Place(len(shared_objects()), await store.iocs.position_at(added_after))


async def read_page(store: Store, asked: Asked, address: str) -> ObjectPage:
    """Return one page of a collection; `address` is the service's own."""
    items, place = list[Added](), asked.place
    for number, made in enumerate(shared_objects()[place.shared :], start=place.shared + 1):
        added = Added(_SHARED_SINCE + timedelta(microseconds=number), made)
        if _is_asked(asked, added):
            if len(items) == asked.limit:
                return ObjectPage(tuple(items), place)
            items.append(added)
        place = replace(place, shared=number)
    only = replace(asked.filter, types=asked.match.types_among(asked.filter.types))
    if not only.types:
        return ObjectPage(tuple(items), None)
    asked, ids = replace(asked, filter=only), asked.match.ioc_ids
    read = _read_changes(store, asked, place) if ids is None else _read_named(store, ids, asked, place)
    return await _filled(items, read, asked, address, place)


async def _filled(
    items: list[Added],
    read: AsyncGenerator[tuple[Place, Change | None], None],
    asked: Asked,
    address: str,
    place: Place,
) -> ObjectPage:
    """Fill a page with the objects of changes, each of which comes with the place behind it."""
    async with aclosing(read):
        async for behind, change in read:
            if behind.changes.number % _MADE_IN_A_TURN == 0:
                await asyncio.sleep(0)  # a thousand objects take what others would wait for
            made = None if change is None else _object(change, address)
            if change is not None and made is not None and _is_asked(asked, added := Added(change.moment, made)):
                if len(items) == asked.limit:
                    return ObjectPage(tuple(items), place)
                items.append(added)
            place = behind
    return ObjectPage(tuple(items), place if place.goes_on else None)


async def _read_changes(store: Store, asked: Asked, place: Place) -> AsyncGenerator[tuple[Place, Change | None], None]:
    """Yield changes with the place behind each, in the end the place where to go on, without a change."""
    at_once = min(asked.limit + 1, _CHANGES_AT_ONCE)
    for _ in range(0, _MOST_CHANGES, at_once):
        page = await store.iocs.changes(ChangeQuery(place.changes, at_once, asked.filter))
        found = None if asked.text is None else await _found(store, asked, page.items)
        for change in page.items:
            behind = replace(place, changes=replace(place.changes, number=change.number))
            # Names stay what they are, whatever is added to them.
            is_new = change.event != "changed" or change.type in _INDICATORS
            yield behind, change if is_new and (found is None or change.id in found) else None
        place = Place(place.shared, page.next, goes_on=page.more)
        yield place, None
        if not page.more:
            return


async def _read_named(
    store: Store, ids: list[str], asked: Asked, place: Place
) -> AsyncGenerator[tuple[Place, Change | None], None]:
    """Do as `_read_changes`, for the newest changes of these indicators."""
    changes = [one for one in (await store.iocs.changes_of(ids)).values() if one.type in asked.filter.types]
    found = await _found(store, asked, changes)
    for change in sorted(changes, key=lambda change: change.number):
        if change.id in found and change.number > place.changes.number:
            yield replace(place, changes=replace(place.changes, number=change.number)), change
    yield replace(place, goes_on=False), None


async def _found(store: Store, asked: Asked, changes: Sequence[Change]) -> set[str]:
    """Return which of these indicators filter and words let through; those that are gone all pass."""
    gone = {change.id for change in changes if change.ioc is None}
    there = tuple(change.id for change in changes if change.ioc is not None)
    if not there:
        return gone
    page = await store.iocs.find(IocQuery(asked.text, asked.filter, there, len(there)))
    return gone | {ioc.id for ioc in page.items}


def _object(change: Change, address: str) -> Object | None:
    return revoked(change) if change.ioc is None else stix_object(change.ioc, address)


def _is_asked(asked: Asked, added: Added) -> bool:
    return (asked.added_after is None or added.at > asked.added_after) and asked.match.admits(added.made)
