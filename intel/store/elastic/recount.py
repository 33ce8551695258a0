"""Derive indicators from sightings: what changes is counted anew, or put together with what was counted before.

An indicator is read (its sequence number) before its sightings are counted, and written only if nobody wrote it since.
So who writes last has counted all that was visible by then, and any order of any number of processes ends exact.

Who only added sightings, and made them visible, need not read the others. Where the stored indicator holds all that it
was counted from, it is derived from those and from what was just saved; where it holds the newest of them, the others
are counted but not read. It too is written only if nobody wrote it since, or only ever created where it was not stored:
whoever added or took out another sighting meanwhile either wrote it before, so that this begins anew, or meets what was
written here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from intel.records import NEWEST_ARTICLES
from intel.store.elastic.bulk import Bulk, Write, expecting
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import (
    CHANGE_MEMBERS,
    IOC_MEMBERS,
    Document,
    following,
    ioc_document,
    is_there,
    moment,
)
from intel.store.elastic.index import Found, Index
from intel.store.elastic.malware_names import MalwareNames
from intel.store.elastic.merging import MOST_NAMES, Known, counted, known_of
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import NEWEST_SIGHTINGS, term
from intel.store.elastic.votes import ElasticVotes
from intel.times import from_milliseconds

# One answer holds at most 65,536 buckets: 250 indicators, for each a bucket and twice 100 names.
IOCS_AT_ONCE = 250
_LOOKED_AT_AT_ONCE = 2_000
_MOST_COUNTED = 60_000
# A filter by source finds an indicator by its last thousand sources; its document would grow without bound otherwise.
_MOST_SOURCE_NAMES = 1_000
_RECOUNT_SECONDS = 90.0
_SIGHTING_MEMBERS = (
    "ioc_id",
    "article_id",
    "type",
    "value",
    "title",
    "url",
    "source_name",
    "source_domain",
    "published_at",
    "seen_at",
    "context",
    "malware",
    "warned",
    "counted_source",
    "tlp",
)
_STORED_MEMBERS = tuple(dict.fromkeys((*IOC_MEMBERS, *CHANGE_MEMBERS, "false_positives", "voted", "warned", "newest")))
_BUCKET = "aggregations.iocs.buckets"
_COUNTS_FILTER = ",".join(
    f"{_BUCKET}.{member}"
    for member in (
        "key",
        "doc_count",
        "first.value",
        "strictest.value",
        "counted.sum_other_doc_count",
        "counted.buckets.key",
        "names.sum_other_doc_count",
        "names.buckets.key",
        "newest.hits.hits._source",
    )
)


class Recount:
    """Writes indicators as their visible sightings say."""

    def __init__(
        self,
        iocs: Index,
        sightings: Index,
        bulk: Bulk,
        clock: Callable[[], datetime],
        votes: ElasticVotes,
        names: MalwareNames,
    ) -> None:
        self._votes = votes
        self._names = names
        self._iocs = iocs
        self._sightings = sightings
        self._bulk = bulk
        self._clock = clock
        # Two recounts of one indicator at a time would only make each other start again.
        self._turn = asyncio.Lock()

    async def recount(self, ids: Collection[str], saved: Iterable[Document] = ()) -> None:
        """Bring these indicators up to date, and mark those without any sighting as removed.

        `saved` are sightings that were written just before, whole documents, of articles that were not stored before.
        """
        fresh: dict[str, list[Document]] = {}
        for sighting in saved:
            fresh.setdefault(sighting["ioc_id"], []).append(sighting)
        for portion in portions(await self._put_together(sorted(ids), fresh)):
            await self._recount_all(portion, fresh)

    async def _put_together(self, ids: Sequence[str], fresh: Mapping[str, Sequence[Document]]) -> list[str]:
        """Write those that can be told from what was just saved and what is stored of them; return all others."""
        told: list[str] = []

        async def each_part() -> AsyncIterator[Iterable[Write]]:
            for start in range(0, len(ids), _LOOKED_AT_AT_ONCE):
                part = ids[start : start + _LOOKED_AT_AT_ONCE]
                stored = await self._iocs.visible(part, _STORED_MEMBERS)
                known = _known(part, stored, fresh)
                derived = await self._derived_in_part(known, stored)
                countable = {id: one for id, one in known.items() if id in derived or one.is_countable}
                told.extend(countable)
                yield self._writes_of(countable, derived, stored)

        async with self._turn:
            passed = await self._bulk.try_in_turn(each_part())
        done = {id for id, done in zip(told, passed, strict=True) if done}
        return [id for id in ids if id not in done]

    async def _derived_in_part(self, known: Mapping[str, Known], stored: Mapping[str, Found]) -> dict[str, Document]:
        """Return those of which only the newest sightings are known, the others counted; note names that are new."""
        await self._note_names(one.sightings[0] for id, one in known.items() if id not in stored)
        in_part = {id: one for id, one in known.items() if not one.is_countable}
        derived: dict[str, Document] = {}
        for portion in portions([*in_part]):
            derived |= await self.derive(portion, {id: in_part[id] for id in portion})
        return derived

    def _writes_of(
        self, known: Mapping[str, Known], derived: Mapping[str, Document], stored: Mapping[str, Found]
    ) -> Iterator[Write]:
        now = self._clock()
        for id, one in known.items():
            write = self._write(id, stored.get(id), derived[id] if id in derived else counted(one), now)
            if write is not None:
                yield write

    async def _recount_all(self, left: Sequence[str], fresh: Mapping[str, Sequence[Document]]) -> None:
        @retried(_RECOUNT_SECONDS)
        async def attempt() -> None:
            nonlocal left
            async with self._turn:
                left = await self._recount_once(left, fresh)
            if left:
                raise TryAgain

        await attempt()

    async def rebuilt(self, iocs: Sequence[Document]) -> list[Document]:
        """Return these stored documents as their sightings say, each with its place in the change feed.

        One whose sightings are just being deleted is kept as it is: whoever deletes them will come for it.
        """
        there = [ioc for ioc in iocs if is_there(ioc)]
        if not there:
            return [*iocs]
        derived, now = await self.derive([ioc["id"] for ioc in there]), self._clock()
        votes = await self._votes.counts([ioc["id"] for ioc in there if ioc.get("false_positives") is None])
        for ioc in there:
            if ioc.get("false_positives") is None:
                ioc["false_positives"] = votes.get(ioc["id"], 0)
            ioc["voted"] = ioc["false_positives"] > 0
        return [following(ioc, derived[ioc["id"]], now) or ioc if ioc.get("id") in derived else ioc for ioc in iocs]

    async def derive(
        self, ids: Sequence[str], known: Mapping[str, Known] = MappingProxyType({})
    ) -> dict[str, Document]:
        """Return what these indicators (at most `IOCS_AT_ONCE`) should be; those without any sighting are absent.

        Of the newest sightings, those that are known are not read.
        """
        derived: dict[str, Document] = {}
        for some, read in ([id for id in ids if id not in known], True), ([*known], False):
            if some:
                asked = _counts(some, newest=read)
                answer = await self._sightings.search(asked, patience=Patience.LONG, filter_path=_COUNTS_FILTER)
                for bucket in answer.get("aggregations", {}).get("iocs", {}).get("buckets", []):
                    id = bucket["key"]
                    newest = _newest_of(bucket) if read else known[id].sightings[:NEWEST_ARTICLES]
                    derived[id] = await self._document(bucket, newest)
        return derived

    async def _recount_once(self, ids: Sequence[str], fresh: Mapping[str, Sequence[Document]]) -> list[str]:
        """Return those that somebody else wrote meanwhile."""
        before = await self._iocs.get_many(ids, source=_STORED_MEMBERS, patience=Patience.LONG)
        known = _known(ids, before, fresh)
        derived = {id: counted(one) for id, one in known.items() if one.is_countable}
        others = [id for id in ids if id not in derived]
        if others:
            derived |= await self.derive(others, {id: one for id, one in known.items() if id not in derived})
        await self._note_names(derived.values())
        now = self._clock()
        writes = [write for id in ids if (write := self._write(id, before.get(id), derived.get(id), now))]
        passed = await self._bulk.try_all(writes)
        return [write.id for write, done in zip(writes, passed, strict=True) if not done]

    async def _note_names(self, found: Iterable[Document]) -> None:
        await self._names.note(one["value"] for one in found if one["type"] == "malware")

    def _write(self, id: str, before: Found | None, derived: Document | None, now: datetime) -> Write | None:
        document = following(before.source if before else None, derived, now)
        if document is None:
            return None
        return expecting("index", before, document) if before else Write("create", self._iocs.name, id, document)

    async def _document(self, bucket: dict[str, Any], newest: Sequence[Document]) -> Document:
        first_seen = moment(from_milliseconds(int(bucket["first"]["value"])))
        sources, names = _names(bucket["counted"]), _names(bucket["names"])
        level = int(bucket["strictest"]["value"] or 0)
        if bucket["counted"]["sum_other_doc_count"] or bucket["names"]["sum_other_doc_count"]:
            many, names = await self._many_sources(bucket["key"])
            return ioc_document(newest, first_seen, bucket["doc_count"], many, names, level)
        return ioc_document(newest, first_seen, bucket["doc_count"], len(sources), names, level)

    async def _many_sources(self, id: str) -> tuple[int, list[str]]:
        """Return how many sources count for an indicator, and the names of its last thousand sources."""
        filter_path = "aggregations.count.count,aggregations.names.buckets.key"
        answer = await self._sightings.search(_source_counts(id), patience=Patience.LONG, filter_path=filter_path)
        counts = answer["aggregations"]
        return counts["count"]["count"], _names(counts["names"])


def _known(
    ids: Sequence[str], stored: Mapping[str, Found], fresh: Mapping[str, Sequence[Document]]
) -> dict[str, Known]:
    """Return the sightings that are known of those of which any were just saved, and of which the stored one tells."""
    told = ((id, known_of(stored[id].source if id in stored else None, fresh.get(id, ()))) for id in ids)
    return {id: known for id, known in told if known is not None}


def portions(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield as many ids at once as one answer holds."""
    return (ids[start : start + IOCS_AT_ONCE] for start in range(0, len(ids), IOCS_AT_ONCE))


def _newest_of(bucket: dict[str, Any]) -> list[Document]:
    return [hit["_source"] for hit in bucket["newest"]["hits"]["hits"]]


def _names(terms: dict[str, Any]) -> list[str]:
    return [bucket["key"] for bucket in terms.get("buckets", ())]


def _counts(ids: Sequence[str], *, newest: bool) -> Document:
    newest_ones = {"size": NEWEST_ARTICLES, "sort": NEWEST_SIGHTINGS, "_source": _SIGHTING_MEMBERS}
    each = {
        "first": {"min": {"field": "seen_at"}},
        "strictest": {"max": {"field": "tlp"}},
        "counted": {"terms": _terms("counted_source", MOST_NAMES)},
        "names": {"terms": _terms("source_name", MOST_NAMES)},
        **({"newest": {"top_hits": newest_ones}} if newest else {}),
    }
    return {
        "size": 0,
        "track_total_hits": False,
        "query": {"terms": {"ioc_id": ids}},
        "aggs": {"iocs": {"terms": _terms("ioc_id", len(ids)), "aggs": each}},
    }


def _source_counts(id: str) -> Document:
    names = {**_terms("source_name", _MOST_SOURCE_NAMES), "order": {"newest": "desc"}}
    return {
        "size": 0,
        "track_total_hits": False,
        "query": term("ioc_id", id),
        "aggs": {
            "counted": {"terms": _terms("counted_source", _MOST_COUNTED)},
            "count": {"stats_bucket": {"buckets_path": "counted>_count"}},
            "names": {"terms": names, "aggs": {"newest": {"max": {"field": "seen_at"}}}},
        },
    }


def _terms(field: str, size: int) -> Document:
    # Without the hint every refresh would rebuild a table of all the values in the index.
    return {"field": field, "size": size, "execution_hint": "map"}
