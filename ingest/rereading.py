"""Reading stored articles again with today's rules: from the text that is stored, without the network.

The page itself is not kept, so that what stood in its markup alone, such as in a link's address, cannot be weighed
again: it stays as it was. An indicator goes where today's rules weigh it in the text and drop it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ingest.front_matter import with_plain_fields
from ingest.indicators import document_from_text, extract
from ingest.indicators.candidate_records import candidate_records
from ingest.isolated import Isolation
from ingest.near_duplicates import bands
from ingest.pipeline import Pipeline
from ingest.reading import ReadPage, checked, counts_by_type, limited, sightings_of
from ingest.revisions import Named
from ingest.wording import findings_of
from intel.candidate_records import CandidateRecord
from intel.errors import IngestFailed
from intel.query import ArticleQuery, Position
from intel.records import Article, Sighting
from intel.store import Store

_PAGE = 20


@dataclass(frozen=True, slots=True)
class Reread:
    """What reading an article again came to: what is found now and was not before, and the other way round.

    `revised` are the indicators that stay and have another context or malware now; `changed` is also true where
    only the article's findings are others. Who goes on after `after` reads it and all behind it; `failure` says why it
    could not be read.
    """

    article: Article
    changed: bool = False
    added: tuple[Named, ...] = ()
    vanished: tuple[Named, ...] = ()
    revised: tuple[Named, ...] = ()
    after: Position | None = None
    failure: IngestFailed | None = None


@dataclass(frozen=True, slots=True)
class Rereading:
    """Reads stored articles again, newest first; `since` is the earliest `seen_at` of those that are read."""

    store: Store
    pipeline: Pipeline
    isolation: Isolation
    most_indicators: int
    source: str | None = None
    since: datetime | None = None
    dry_run: bool = False

    async def all(self, after: Position | None, seconds_each: float) -> AsyncGenerator[Reread, None]:
        """Yield what became of every article behind a place in the list; each takes at least so many seconds."""
        while True:
            page = await self.store.articles.find(ArticleQuery(source=self.source, limit=_PAGE, after=after))
            for article in page.items:
                if self.since is not None and article.seen_at < self.since:
                    return
                done, _ = await asyncio.gather(self._read(article.id), asyncio.sleep(seconds_each))
                if done is not None:
                    yield replace(done, after=after)
            if page.next is None:
                return
            after = page.next

    async def _read(self, id: str) -> Reread | None:
        known = await self.store.articles.get(id)
        if known is None or not known.text:
            return None
        before = await self.store.articles.sightings_of(id)
        try:
            found = await self.isolation.run(read_stored, known, list(before), self.most_indicators)
            found = checked(limited(found, self.most_indicators))
        except IngestFailed as failure:
            return Reread(known, failure=failure)
        revised_findings = found.article.findings != known.findings
        if found.sightings != tuple(before) or revised_findings:
            await self._save(found)
        now, then = _said_of(found.sightings), _said_of(before)
        added = tuple(one for one in now if one not in then)
        vanished = tuple(one for one in then if one not in now)
        revised = tuple(one for one in now if one in then and now[one] != then[one])
        changed = bool(added or vanished or revised or revised_findings)
        return Reread(known, changed, added=added, vanished=vanished, revised=revised)

    async def _save(self, found: ReadPage) -> None:
        if not self.dry_run:
            await self.pipeline.take_read(found)


def read_stored(article: Article, before: list[Sighting], most_indicators: int) -> ReadPage:
    """Return a stored article as today's rules read its text; `before` is what was seen in it."""
    text = article.text or ""
    extraction = extract(document_from_text(with_plain_fields(text)), most_indicators=most_indicators)
    weighed = candidate_records(extraction)
    sightings = with_kept(sightings_of(extraction), _not_weighed(before, weighed.records))
    cves = [one.value for one in sightings if one.type == "cve"]
    read = replace(
        article,
        revision=1,
        # Whoever changes it meanwhile is not overruled: the store keeps what it has.
        tlp=None,
        ioc_counts=counts_by_type(sightings),
        ioc_dropped=extraction.dropped,
        findings=findings_of(f"{article.title}\n\n{text}", cves),
    )
    return ReadPage(read, sightings, (), weighed.records, (), bands(text))


def with_kept(found: Sequence[Sighting], kept: Sequence[tuple[Sighting, Named | None]]) -> tuple[Sighting, ...]:
    """Return what was found with what is kept, each of these behind the one that it followed before."""
    followers: dict[Named | None, list[Sighting]] = {}
    for sighting, before in kept:
        followers.setdefault(before, []).append(sighting)
    ordered = followers.pop(None, [])
    for sighting in found:
        ordered += [sighting, *followers.pop((sighting.type, sighting.value), ())]
    ordered += [one for rest in followers.values() for one in rest]
    return tuple(replace(sighting, position=position) for position, sighting in enumerate(ordered))


def _not_weighed(before: Sequence[Sighting], weighed: Sequence[CandidateRecord]) -> list[tuple[Sighting, Named | None]]:
    """Return what nothing in the text accounts for, each with the one before it that something does."""
    values: dict[str, list[str]] = {}
    for candidate in weighed:
        values.setdefault(candidate["type"], []).append(candidate["value"])
    kept: list[tuple[Sighting, Named | None]] = []
    last: Named | None = None
    for sighting in before:
        if any(_is_the_same(sighting.value, value) for value in values.get(sighting.type, ())):
            last = (sighting.type, sighting.value)
        else:
            kept.append((sighting, last))
    return kept


def _is_the_same(before: str, now: str) -> bool:
    """Tell whether two values may be one spelling, cut elsewhere."""
    return before.startswith(now) or now.startswith(before)


def _said_of(sightings: Sequence[Sighting]) -> dict[Named, tuple[str, tuple[str, ...]]]:
    """Return, of each indicator, its context and the malware associated with it."""
    return {(one.type, one.value): (one.context, one.malware) for one in sightings}
