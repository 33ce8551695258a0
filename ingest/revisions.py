"""What an article said each time it was read and had changed: a number that rises, and a reading kept for each.

A reading is kept before its article is saved, so that no number is shown whose reading is missing; a save that was cut
short is done again under the same number. Of two that read different things at once, the later save stands, and its
reading.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, cast

from ingest.reading import ReadPage
from intel.records import Article, Reading
from intel.store import Store
from intel.store.walking import iocs_of

Named = tuple[str, str]

_MOST_READERS: Final = 8
_TEXTS_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class Vanished:
    """An indicator that an article does not name any more: the last revision that did, and when it was found gone."""

    type: str
    value: str
    last_revision: int
    vanished_at: datetime


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of the articles in one store."""

    store: Store

    async def next(self, article: Article, known: Article | None, found: ReadPage, now: datetime) -> Article:
        """Return the article with the number of the revision that it is, whose reading is kept."""
        if known is None:
            await self.store.readings.put(_reading(article, found, now))
            return article
        before = await self.store.readings.get(known.id, known.revision)
        if await self._says_the_same(article, known, before, found):
            article = replace(article, revision=known.revision)
            if before is None or before.text != article.text:
                await self.store.readings.put(_reading(article, found, before.fetched_at if before else now))
            return article
        article = replace(article, revision=known.revision + 1)
        await self.store.readings.put(_reading(article, found, now))
        return article

    async def begin(self, articles: Sequence[tuple[Article, ReadPage]], now: datetime) -> None:
        """Keep the readings of articles that are new."""
        await self.store.readings.put_many([_reading(article, found, now) for article, found in articles])

    async def unsettled(self, articles: Sequence[Article]) -> tuple[Article, ...]:
        """Return those of the articles of which others saved something else since they were."""
        ids = [article.id for article in articles]
        stored = await self.store.articles.get_many(ids)
        texts = dict[str, str]()
        for start in range(0, len(ids), _TEXTS_AT_ONCE):
            texts |= await self.store.articles.texts(ids[start : start + _TEXTS_AT_ONCE])
        return tuple(
            article
            for article in articles
            if article.id not in stored
            or stored[article.id].revision != article.revision
            or stored[article.id].ioc_counts != article.ioc_counts
            or texts.get(article.id) != article.text
        )

    async def settle(self, article: Article, found: ReadPage, now: datetime) -> None:
        """Keep the reading of the article as it is stored, whoever of several readers saved last."""
        for _ in range(_MOST_READERS):
            stored = await self.store.articles.get(article.id) or article
            kept = await self.store.readings.get(stored.id, stored.revision)
            mine = stored.text == article.text
            if kept is not None and kept.text == stored.text and (not mine or set(kept.iocs) == named(found)):
                return
            await self.store.readings.put(_reading(stored, found, now) if mine else await self._told(stored, now))

    async def _told(self, stored: Article, now: datetime) -> Reading:
        """Return an article's reading by what is stored of the article itself."""
        iocs = tuple([(ioc.type, ioc.value) async for ioc in iocs_of(self.store.articles, stored.id)])
        return Reading(stored.id, stored.revision, now, stored.title, iocs, stored.text or "", ())

    async def of(self, article: Article) -> tuple[Reading, ...]:
        """Return the outlines of its revisions, newest first, without one whose save was cut short.

        The article itself stands for its revision where no reading of that was kept, as in stores of older versions.
        """
        outlines = await self.store.readings.of(article.id)
        known = tuple(outline for outline in outlines if outline.revision <= article.revision)
        if known and known[0].revision == article.revision:
            return known
        return (await self._told(article, article.fetched_at), *known)

    async def get(self, article: Article, number: int) -> Reading | None:
        """Return that revision of an article with its text; None where it is not known."""
        if not 0 < number <= article.revision:
            return None
        kept = await self.store.readings.get(article.id, number)
        if kept is None and number == article.revision:
            return await self._told(article, article.fetched_at)
        return kept

    async def vanished(self, article: Article) -> tuple[Vanished, ...]:
        """Return what earlier revisions named and this one does not, latest gone first."""
        return await asyncio.to_thread(vanished, await self.of(article)) if article.revision > 1 else ()

    async def _says_the_same(self, article: Article, known: Article, before: Reading | None, found: ReadPage) -> bool:
        if known.text != article.text:
            return False
        if before is not None and before.text == known.text:
            return set(before.iocs) == named(found)
        return {(ioc.type, ioc.value) async for ioc in iocs_of(self.store.articles, known.id)} == named(found)


def named(found: ReadPage) -> set[Named]:
    """Return the indicators of what was read."""
    return {(sighting.type, sighting.value) for sighting in found.sightings}


def vanished(outlines: tuple[Reading, ...]) -> tuple[Vanished, ...]:
    """Return what a revision before the first of these (newest first) named and the first one does not."""
    seen: set[Named] = set(outlines[0].iocs) if outlines else set()
    gone: list[Vanished] = []
    for after, before in pairwise(outlines):
        for type, value in before.iocs:
            if (type, value) not in seen:
                seen.add((type, value))
                gone.append(Vanished(type, value, before.revision, after.fetched_at))
    return tuple(gone)


def _reading(article: Article, found: ReadPage, fetched_at: datetime) -> Reading:
    iocs = tuple((sighting.type, sighting.value) for sighting in found.sightings)
    candidates = cast("tuple[dict[str, Any], ...]", found.candidates)
    return Reading(article.id, article.revision, fetched_at, article.title, iocs, article.text or "", candidates)
