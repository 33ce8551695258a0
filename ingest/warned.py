"""Which indicators stand on a warning list, and why: what is built in, packaged lists, and lists that were imported.

None of it says that an indicator is harmless, only that it is rarely one to be blocked. New indicators are marked when
they are saved; when the lists change, all are marked anew in the background.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeVar

from ingest.indicators.noise import warnings as noise_warnings
from intel.catalogues import Indicator, warnings_of
from intel.ids import ioc_id
from intel.records import Sighting
from intel.store import Store
from intel.warninglists import is_packaged, load_packaged, packaged_warnings

T = TypeVar("T")

# Raised where what is built in says something else of the same indicator.
_BUILT_IN: Final = 1
_ONE_READ: Final = 1_000
_CATALOGUE: Final = "warninglist"
# Marking goes on beside requests, which wait for a step: about a millisecond.
_IN_ONE_STEP: Final = 100
_REST_SECONDS: Final = 0.001


class _Named(NamedTuple):
    id: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning list that an indicator stands on, and what that means."""

    list: str
    reason: str


@lru_cache(maxsize=16384)
def lasting_cautions(type: str, value: str) -> tuple[Caution, ...]:
    """Return what this version of the service says of an indicator."""
    packaged = packaged_warnings(type, value)
    # What is built in of addresses is what the packaged lists say better.
    built_in = [one for one in noise_warnings(type, value) if one[0] != "addresses" or not packaged]
    return tuple(Caution(*one) for one in (*built_in, *packaged))


def _calls_for_caution(type: str, value: str) -> bool:
    """Tell whether `lasting_cautions` are any, which most indicators have none of."""
    return is_packaged(type, value) or bool(noise_warnings(type, value))


class Lists(NamedTuple):
    """Whether warning lists are imported, and whether all indicators are marked by the lists as they are now: one
    without a mark then stands on none.
    """

    imported: bool
    marked: bool


async def with_lists(store: Store, read: Coroutine[Any, Any, T]) -> tuple[T, Lists]:
    """Await `read`, and tell what there was of lists before."""
    with closing(read):
        imported_at, basis = await store.marking(_CATALOGUE)
        return await read, Lists(imported_at is not None, basis == _basis(imported_at))


async def imported(store: Store, found: Sequence[Indicator]) -> dict[str, tuple[Caution, ...]]:
    """Return what imported lists say of indicators, by id; those on none are left out."""
    is_there = bool(found) and await store.catalogues.imported_at(_CATALOGUE) is not None
    return await listed(store, found) if is_there else {}


async def listed(store: Store, found: Iterable[Indicator]) -> dict[str, tuple[Caution, ...]]:
    """Return what `imported` does, where there are lists."""
    distinct = list({each.id: each for each in found}.values())
    cautions: dict[str, tuple[Caution, ...]] = {}
    for start in range(0, len(distinct), _ONE_READ):
        listed = await warnings_of(store, distinct[start : start + _ONE_READ])
        cautions |= {id: tuple(Caution(one.list, one.reason) for one in said) for id, said in listed.items()}
    return cautions


async def marked(store: Store, sightings: Sequence[Sighting]) -> list[Sighting]:
    """Return the sightings, those of indicators on a warning list marked."""
    await asyncio.to_thread(load_packaged)
    are_imported = bool(sightings) and await store.catalogues.imported_at(_CATALOGUE) is not None
    named = (_Named(ioc_id(one.type, one.value), one.type, one.value) for one in sightings)
    said = await listed(store, named) if are_imported else {}
    return [
        replace(one, warned=True)
        if (said and ioc_id(one.type, one.value) in said) or _calls_for_caution(one.type, one.value)
        else one
        for one in sightings
    ]


async def keep_marked(store: Store, watch: Callable[[int], None] = lambda _: None) -> None:
    """Mark all indicators by the lists as they are now, unless they are; `watch` is told how many were looked at."""
    basis = _basis(await store.catalogues.imported_at(_CATALOGUE))
    if await store.marks.basis() == basis:
        return
    # What was being saved when the lists changed may be marked by the former ones: a second look finds it.
    for _ in range(2):
        async with aclosing(store.marks.every()) as every:
            async for some in every:
                listed = await imported(store, some)
                wanted: dict[str, bool] = {}
                for start in range(0, len(some), _IN_ONE_STEP):
                    for one in some[start : start + _IN_ONE_STEP]:
                        wanted[one.id] = one.id in listed or _calls_for_caution(one.type, one.value)
                    await asyncio.sleep(_REST_SECONDS)
                await _mark(store, {one.id: wanted[one.id] for one in some if wanted[one.id] != one.warned})
                watch(len(some))
    await store.marks.settle(basis)


async def begin_marked(store: Store) -> None:
    """Note of a store without indicators that all are marked: new ones are when they are saved."""
    basis = _basis(await store.catalogues.imported_at(_CATALOGUE))
    if await store.marks.basis() == basis:
        return
    async with aclosing(store.marks.every()) as every:
        async for _ in every:
            return
    await store.marks.settle(basis)


async def _mark(store: Store, different: Mapping[str, bool]) -> None:
    if different:
        await store.marks.mark(different)


def _basis(imported_at: datetime | None) -> str:
    """Return what names the lists of this version and those that were imported then."""
    return f"{_BUILT_IN}:{_packaged()}:{imported_at}"


@cache
def _packaged() -> str:
    content = (files("intel.warninglists") / "lists.json.gz").read_bytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()
