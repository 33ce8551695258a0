"""Decide what is in focus when it may have changed, keep that until then, and read the rest of what is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from intel.catalogues import catalogue_stamp
from intel.focus.items import Json, items_of
from intel.focus.replay import next_change
from intel.focus.standings import STALE_FOR, Standing, standings_of
from intel.focus.subjects import Material, read_material
from intel.store import Store
from intel.store.subjects import WINDOW

# How far back the history of an item reaches; after that a closed one is told of no more.
HISTORY = timedelta(days=42)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Board:
    basis: str
    good_from: datetime
    good_until: datetime
    standings: tuple[Standing, ...]


class Focus:
    """What is in focus by one store; safe for any number of tasks, which share one computation."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._computing = asyncio.Lock()
        self._board: _Board | None = None

    async def standings(self, now: datetime) -> tuple[Standing, ...]:
        """Return the subjects that are or lately were in focus at `now`, closed and stale ones too, in order."""
        async with self._computing:
            day = _midnight_before(now)
            start = day - HISTORY - WINDOW
            basis = f"{await self._store.articles.basis(start, day + _DAY)} {await catalogue_stamp(self._store)}"
            board = self._board
            if board is None or board.basis != basis or not board.good_from <= now < board.good_until:
                board = self._board = await self._computed(basis, start, now)
            return board.standings

    async def items(self, standings: Sequence[Standing]) -> list[Json]:
        """Return the public form of some of the standings."""
        return await items_of(self._store, standings)

    async def _computed(self, basis: str, start: datetime, now: datetime) -> _Board:
        material = await read_material(self._store, start, now)
        coming = await self._store.subjects.next_article(now)
        # In a thread: of very many articles it takes a while, and other requests go on meanwhile.
        return await asyncio.to_thread(_decided, material, basis, now, coming)


def _decided(material: Material, basis: str, now: datetime, coming: datetime | None) -> _Board:
    midnight = _midnight_before(now)
    standings = standings_of(material, midnight - HISTORY, now)
    return _Board(basis, now, min(_changes(standings, now, midnight + _DAY, coming)), standings)


def _changes(
    standings: Sequence[Standing], now: datetime, midnight: datetime, coming: datetime | None
) -> list[datetime]:
    """Return moments until the first of which nothing changes by itself."""
    found = [midnight, *([coming] if coming else [])]
    for subject in (standing.subject for standing in standings):
        leaving = [subject.last_seen + age for age in (WINDOW, STALE_FOR)]
        found += [moment for moment in (*leaving, next_change(subject, now)) if moment is not None and moment > now]
    return found


def _midnight_before(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
