"""Compute the focus items from the store when they may have changed, and keep them until then."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from intel.catalogues import catalogue_stamp
from intel.focus.items import STALE_FOR, Json, compute
from intel.focus.rules import WINDOW
from intel.focus.subjects import Material, read_material
from intel.store import Store

# How far back the history of an item reaches; after that a closed one is told of no more.
HISTORY = timedelta(days=42)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Board:
    basis: str
    good_from: datetime
    good_until: datetime
    items: list[Json]


class Focus:
    """The focus items of one store; safe for any number of tasks, which share one computation."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._computing = asyncio.Lock()
        self._board: _Board | None = None

    async def items(self, now: datetime) -> list[Json]:
        """Return all items at `now`, closed and stale ones too, in order; the caller must not change them."""
        async with self._computing:
            day = _midnight_before(now)
            start, end = day - HISTORY - WINDOW, day + _DAY
            basis = f"{await self._store.articles.basis(start, end)} {await catalogue_stamp(self._store)}"
            board = self._board
            if board is None or board.basis != basis or not board.good_from <= now < board.good_until:
                material = await read_material(self._store, start, end)
                # In a thread: of many articles it takes seconds, and other requests go on meanwhile.
                board = self._board = await asyncio.to_thread(_computed, material, basis, now, end)
            return board.items


def _computed(material: Material, basis: str, now: datetime, end: datetime) -> _Board:
    items = compute(material, _midnight_before(now) - HISTORY, now)
    return _Board(basis, now, _next_change(material, now, end), items)


def _next_change(material: Material, now: datetime, end: datetime) -> datetime:
    """Return the moment until which nothing changes by itself: an article or indicator grows too old, or a day ends."""
    seen = {mention.seen_at for subject in material.subjects for mention in subject.mentions}
    leaving = {moment + age for moment in seen for age in (WINDOW, STALE_FOR)}
    old = {row.first_seen + WINDOW for subject in material.subjects for row in subject.named_near}
    return min([end, *(moment for moments in (seen, leaving, old) for moment in moments if moment > now)])


def _midnight_before(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
