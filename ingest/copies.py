"""Finding the cluster of an article: copies of one text count as one source, however many processes take them in.

Each band of an article's signature is kept as an address of its own, which leads for ever to whoever claimed it first.
An article's forerunners are the copies that claimed a band of its before it did. Two that came at once may each be
the other's forerunner: then the smaller id goes first. Whoever has no forerunner leads, and its cluster is everyone's.
Claims are made in the order of the bands, and nobody's are ever taken away, so that all who look find the same leader.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

import structlog

from ingest.near_duplicates import copies_among
from ingest.reading import cluster_of as cluster_of_text
from intel.errors import IsolationFailed
from intel.records import Article

log = structlog.get_logger()

# Which of some texts, by id, are copies of a text: each with its bands.
Compare = Callable[[str, Mapping[str, str]], Awaitable[dict[str, tuple[str, ...]]]]

_MOST_COMPARED: Final = 8
_LONGEST_CHAIN: Final = 16
# So long a copy that is still claiming its bands is waited for.
_CLAIMING_SECONDS: Final = 3.0
_LOOK_SECONDS: Final = 0.1
_FETCHED_TOGETHER: Final = timedelta(minutes=5)


class KnownArticles(Protocol):
    """What finding a cluster asks of the articles that are known: `intel.store.port.Articles`, or `Batch`."""

    async def ids_of(self, addresses: Sequence[str]) -> dict[str, str]: ...

    async def texts(self, ids: Sequence[str]) -> dict[str, str]: ...

    async def get(self, id: str) -> Article | None: ...


@dataclass(frozen=True, slots=True)
class _Copy:
    id: str
    text: str
    bands: tuple[str, ...]


async def compare_here(text: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Compare in this process: for texts that no stranger wrote."""
    return copies_among(text, others)


class ComparedOnce:
    """Compares as `compare` does, but no two texts again: for a step in which each copy is looked for twice."""

    def __init__(self, compare: Compare) -> None:
        self._compare = compare
        self._bands: dict[tuple[str, str], tuple[str, ...] | None] = {}

    async def __call__(self, text: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        new = {id: other for id, other in others.items() if (text, other) not in self._bands}
        if new:
            found = await self._compare(text, new)
            self._bands |= {(text, other): found.get(id) for id, other in new.items()}
        told = {id: self._bands[text, other] for id, other in others.items()}
        return {id: bands for id, bands in told.items() if bands is not None}


@dataclass(frozen=True, slots=True)
class Copies:
    """Finds the clusters of articles among those that are known."""

    articles: KnownArticles
    compare: Compare

    async def begin(self, article: Article, known: Article | None, bands: tuple[str, ...]) -> str:
        """Return the cluster to save an article in: the one it is in (`known`) while its text is nearly the same."""
        if known is not None and known.text == article.text:
            return known.cluster_id
        if known is not None and bands and await self._alike(article.text or "", {known.id: known.text or ""}):
            return known.cluster_id
        return await self.cluster_of(article, bands)

    async def cluster_of(self, article: Article, bands: tuple[str, ...]) -> str:
        """Return the cluster that an article belongs to: its own as it stands, unless another copy leads."""
        if not bands:
            return article.cluster_id
        leader = await self._leader(_Copy(article.id, article.text or "", bands))
        return article.cluster_id if leader == article.id else await self._led_by(leader, article) or article.cluster_id

    async def _led_by(self, leader: str, copy: Article) -> str | None:
        """Return the cluster of an article that leads.

        One that was fetched about when its copy was may still be being saved: until that is seen to lead, it may stand
        in a cluster that is not its text's own.
        """
        end = asyncio.get_running_loop().time() + _CLAIMING_SECONDS
        while True:
            found = await self.articles.get(leader)
            if found is None:
                return None
            if found.revision > 1 or abs(copy.fetched_at - found.fetched_at) > _FETCHED_TOGETHER:
                return found.cluster_id
            own = await asyncio.to_thread(cluster_of_text, found.text or "")
            if found.cluster_id == own or asyncio.get_running_loop().time() > end:
                return found.cluster_id
            await asyncio.sleep(_LOOK_SECONDS)

    async def _leader(self, copy: _Copy) -> str:
        path = [copy.id]
        while len(path) < _LONGEST_CHAIN:
            forerunner = await self._forerunner(copy, is_stored=len(path) > 1)
            if forerunner is None:
                break
            if forerunner.id in path:
                return min(path[path.index(forerunner.id) :])
            path.append(forerunner.id)
            copy = forerunner
        return path[-1]

    async def _forerunner(self, copy: _Copy, *, is_stored: bool) -> _Copy | None:
        owners = await self._owners(copy.bands, all_claimed=is_stored)
        others = [owner for owner in dict.fromkeys(owners.values()) if owner != copy.id][:_MOST_COMPARED]
        texts = await self.articles.texts(others) if others else {}
        alike = await self._alike(copy.text, texts) if texts else {}
        for other in others:
            was_first = not any(owners.get(band) == copy.id for band in alike.get(other, ()))
            if other in alike and (was_first or other < copy.id):
                return _Copy(other, texts[other], alike[other])
        return None

    async def _owners(self, bands: tuple[str, ...], *, all_claimed: bool) -> dict[str, str]:
        """Return who claimed each band, in their order. A copy of which others are the forerunners is still being saved
        while not all are claimed.
        """
        end = asyncio.get_running_loop().time() + _CLAIMING_SECONDS
        while True:
            found = await self.articles.ids_of(bands)
            owners = {band: found[band] for band in bands if band in found}
            if not all_claimed or len(owners) == len(bands) or asyncio.get_running_loop().time() > end:
                return owners
            await asyncio.sleep(_LOOK_SECONDS)

    async def _alike(self, text: str, texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        try:
            return await self.compare(text, texts)
        except IsolationFailed as failure:
            log.warning("copies of an article could not be told", reason=failure.reason)
            return {}
