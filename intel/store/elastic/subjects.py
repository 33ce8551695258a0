"""What articles say of subjects, read from their own sightings: which indicators are subjects, the iocs' index tells.

Observables are counted by the engine where one article alone names them, which almost all are; of the others the
sightings are read.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import nsmallest
from operator import itemgetter
from typing import Any

from intel.ids import ioc_id
from intel.records import NEWEST_ARTICLES
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import Document, moment
from intel.store.elastic.index import Index
from intel.store.elastic.queries import any_of, since, term
from intel.store.subjects import (
    MOST_DOMAINS,
    MOST_RELATED,
    NEWEST_MENTIONS,
    OBSERVABLES,
    SUBJECTS,
    WINDOW,
    Asked,
    Beside,
    NewlyNamed,
    Run,
    Said,
    Told,
    domain_of,
    said_in,
)
from intel.times import from_milliseconds, from_rfc3339

_WINDOW_SECONDS = WINDOW.total_seconds()
_MILLISECOND = timedelta(milliseconds=1)
_IDS_AT_ONCE = 5_000
_HITS_AT_ONCE = 10_000
_BUCKETS_AT_ONCE = 5_000
# With more indicators in several articles than these, their ids are no shorter than the articles' sightings.
_MOST_SHARED = 10_000
_Named = tuple[datetime, str, Document]
_OBSERVED: Document = {"terms": {"type": OBSERVABLES}}


class ElasticSubjects:
    """`intel.store.subjects.Subjects`."""

    def __init__(self, articles: Index, sightings: Index, iocs: Index) -> None:
        self._articles = articles
        self._sightings = sightings
        self._iocs = iocs

    async def runs(self, start: datetime, until: datetime, cves: Collection[str] | None = None) -> tuple[Run, ...]:
        rows = await self._mentions(start, until)
        findings = await self._findings(rows)
        runs: dict[tuple[Any, ...], Run] = {}
        for row in sorted(rows, key=itemgetter("type", "value", "counted_source", "seen_at")):
            run = _run(row, _said(row, findings))
            key = (run.type, run.value, run.source, run.level, run.score, run.first.timestamp() // _WINDOW_SECONDS)
            runs[key] = replace(runs[key], last=run.last) if key in runs else run
        return tuple(runs.values())

    async def _mentions(self, start: datetime, until: datetime) -> list[Document]:
        """Return the sightings of subjects in a span."""
        named = [{"terms": {"type": SUBJECTS}}, since("last_seen", start)]
        ids = [hit["_id"] for hit in await _hits(self._iocs, {"bool": {"filter": named}}, ["id"])]
        members = ["article_id", "type", "value", "counted_source", "seen_at", "level", "score"]
        return await self._sighted(ids, [since("seen_at", start, until + _MILLISECOND)], members)

    async def _sighted(self, ids: Sequence[str], filters: list[Document], members: list[str]) -> list[Document]:
        """Return the sightings of some indicators."""
        found: list[Document] = []
        for first in range(0, len(ids), _IDS_AT_ONCE):
            query = {"bool": {"filter": [{"terms": {"ioc_id": ids[first : first + _IDS_AT_ONCE]}}, *filters]}}
            found += [hit["_source"] for hit in await _hits(self._sightings, query, members)]
        return found

    async def _findings(self, rows: Iterable[Document]) -> dict[str, dict[str, Any]]:
        """Return what articles found about CVEs, where their sightings, of an earlier version, do not tell."""
        untold = {row["article_id"] for row in rows if row["type"] == "cve" and "level" not in row}
        found = await self._articles.get_many(sorted(untold), source=["findings"])
        return {id: one.source["findings"] for id, one in found.items() if one.source.get("findings")}

    async def named_in(self, start: datetime, end: datetime) -> dict[str, tuple[tuple[str, str], ...]]:
        """Return the subjects that each article from `start` to before `end` names, as (type, value) in order."""
        named = _by_article(await self._mentions(start, end - _MILLISECOND))
        return {id: tuple(sorted((row["type"], row["value"]) for row in rows)) for id, rows in named.items()}

    async def newly_named(self, start: datetime, until: datetime) -> tuple[NewlyNamed, ...]:
        new = [_OBSERVED, since("first_seen", start, until + _MILLISECOND)]
        alone, several = await asyncio.gather(self._named_alone(new), self._named_by_several(new, until))
        counted = alone + several
        return tuple(NewlyNamed(*key, iocs) for key, iocs in counted.items())

    async def _named_alone(self, new: list[Document]) -> Counter[tuple[str, datetime, datetime]]:
        """Count indicators that one article names: what it names near them was named when they were first seen."""
        sources = [{"malware": {"terms": {"field": "malware"}}}, {"first_seen": {"terms": {"field": "first_seen"}}}]
        named: dict[str, Any] = {"size": _BUCKETS_AT_ONCE, "sources": sources}
        query = {"bool": {"filter": [*new, {"term": {"sightings": 1}}, {"exists": {"field": "malware"}}]}}
        counted: Counter[tuple[str, datetime, datetime]] = Counter()
        while True:
            body = {"size": 0, "track_total_hits": False, "query": query, "aggs": {"named": {"composite": named}}}
            answer = await self._iocs.search(body, patience=Patience.LONG)
            found = answer.get("aggregations", {}).get("named", {"buckets": []})
            for bucket in found["buckets"]:
                seen = from_milliseconds(bucket["key"]["first_seen"])
                counted[bucket["key"]["malware"], seen, seen] = bucket["doc_count"]
            if "after_key" not in found or len(found["buckets"]) < _BUCKETS_AT_ONCE:
                return counted
            named["after"] = found["after_key"]

    async def _named_by_several(self, new: list[Document], until: datetime) -> Counter[tuple[str, datetime, datetime]]:
        """Count indicators that several articles name, by the first of them that has each name near."""
        # Of one in many articles, only the newest ones' names are known here.
        near = any_of([{"exists": {"field": "malware"}}, {"range": {"sightings": {"gt": NEWEST_ARTICLES}}}])
        query = {"bool": {"filter": [*new, {"range": {"sightings": {"gt": 1}}}, near]}}
        hits = await _hits(self._iocs, query, ["first_seen"])
        first_seen = {hit["_id"]: from_rfc3339(hit["_source"]["first_seen"]) for hit in hits}
        before = {"range": {"seen_at": {"lte": moment(until)}}}
        named: dict[tuple[str, str], datetime] = {}
        for row in await self._sighted(list(first_seen), [before], ["ioc_id", "seen_at", "malware"]):
            for name in row["malware"]:
                seen_at, key = from_rfc3339(row["seen_at"]), (name, row["ioc_id"])
                named[key] = min(seen_at, named.get(key, seen_at))
        found = ((name, at, first_seen[id]) for (name, id), at in named.items())
        return Counter(key for key in found if key[1] < key[2] + WINDOW)

    async def next_article(self, after: datetime) -> datetime | None:
        later = {"range": {"seen_at": {"gt": moment(after)}}}
        body = {"size": 0, "track_total_hits": False, "query": later, "aggs": {"next": {"min": {"field": "seen_at"}}}}
        value = (await self._articles.search(body))["aggregations"]["next"].get("value")
        return None if value is None else from_milliseconds(int(value))

    async def told(self, asked: Sequence[Asked]) -> tuple[Told | None, ...]:
        if not asked:
            return ()
        ids = [ioc_id(one.type, one.value) for one in asked]
        span = since("seen_at", min(one.after for one in asked), max(one.until for one in asked) + _MILLISECOND)
        members = ["ioc_id", "article_id", "type", "value", "seen_at", "url", "level", "score"]
        rows, iocs = await asyncio.gather(
            self._sighted(sorted(set(ids)), [span], members), self._iocs.get_many(ids, source=["first_seen"])
        )
        findings = await self._findings(rows)
        by_ioc: dict[str, list[_Named]] = defaultdict(list)
        for row in rows:
            by_ioc[row["ioc_id"]].append((from_rfc3339(row["seen_at"]), row["article_id"], row))
        found = []
        for one, id in zip(asked, ids, strict=True):
            first_seen = iocs[id].source.get("first_seen") if id in iocs else None
            mentions = sorted((row for row in by_ioc[id] if one.after < row[0] <= one.until), key=lambda row: row[:2])
            found.append(_told(mentions, findings, from_rfc3339(first_seen)) if mentions and first_seen else None)
        return tuple(found)

    async def beside(self, asked: Sequence[tuple[Sequence[str], str | None]]) -> tuple[Beside, ...]:
        articles = sorted({id for ids, _ in asked for id in ids})
        alone = asyncio.gather(*(self._alone(ids, malware) for ids, malware in asked))
        several, techniques, ones = await asyncio.gather(self._several(articles), self._techniques(articles), alone)
        return tuple(
            _beside(ids, malware, several, first, techniques) for (ids, malware), first in zip(asked, ones, strict=True)
        )

    async def _several(self, articles: Sequence[str]) -> dict[str, list[Document]]:
        """Return, by article, the sightings of at least those observables that several articles name."""
        query = {"bool": {"filter": [_OBSERVED, {"range": {"sightings": {"gt": 1}}}]}}
        asked = {"size": _MOST_SHARED, "track_total_hits": False, "query": query, "sort": ["_doc"], "_source": ["id"]}
        ids = [hit["_id"] for hit in (await self._iocs.search(asked))["hits"]["hits"]]
        members, within = ["ioc_id", "article_id", "type", "value", "malware"], {"terms": {"article_id": articles}}
        if len(ids) < _MOST_SHARED:
            rows = await self._sighted(ids, [within], members)
        else:
            rows = [hit["_source"] for hit in await _hits(self._sightings, within, members)]
        return _by_article(row for row in rows if row["type"] in OBSERVABLES)

    async def _techniques(self, articles: Sequence[str]) -> dict[str, list[Document]]:
        query = term("type", "mitre_attack")
        ids = [hit["_id"] for hit in await _hits(self._iocs, query, ["id"])]
        rows = await self._sighted(ids, [{"terms": {"article_id": articles}}], ["ioc_id", "article_id", "value"])
        return _by_article(rows)

    async def _alone(self, articles: Sequence[str], malware: str | None) -> list[tuple[str, str]]:
        """Return the first observables, by type and value, that one of these articles alone names."""
        filters = [_OBSERVED, {"terms": {"article.id": articles}}, {"term": {"sightings": 1}}]
        body = {
            "size": MOST_RELATED,
            "track_total_hits": False,
            "query": {"bool": {"filter": [*filters, *([term("malware", malware)] if malware is not None else [])]}},
            "sort": [{"type": "asc"}, {"value": "asc"}],
            "_source": ["type", "value"],
        }
        hits = (await self._iocs.search(body))["hits"]["hits"]
        return [(hit["_source"]["type"], hit["_source"]["value"]) for hit in hits]


def _run(row: Document, said: Said) -> Run:
    """Return the run of a single mention."""
    seen_at = from_rfc3339(row["seen_at"])
    return Run(row["type"], row["value"], row["counted_source"], said.level, said.score, seen_at, seen_at)


def _beside(
    articles: Sequence[str],
    malware: str | None,
    several: Mapping[str, list[Document]],
    alone: Iterable[tuple[str, str]],
    techniques: Mapping[str, list[Document]],
) -> Beside:
    rows = (row for id in articles for row in several.get(id, ()))
    counted = Counter(dict.fromkeys(alone, 1))
    counted |= Counter((row["type"], row["value"]) for row in rows if malware in (None, *row["malware"]))
    ranked = nsmallest(MOST_RELATED, ((-count, indicator) for indicator, count in counted.items()))
    named = Counter(row["value"] for id in articles for row in techniques.get(id, ()))
    return Beside(tuple(indicator for _, indicator in ranked), named)


def _told(mentions: list[_Named], findings: Mapping[str, Document], first_seen: datetime) -> Told:
    """Return what the given mentions, oldest first, say."""
    said = [(_said(row, findings), id) for _, id, row in mentions]
    domains = {domain for *_, row in mentions if (domain := domain_of(row["url"]))}
    return Told(
        first_seen,
        len(mentions),
        mentions[0][0],
        mentions[-1][0],
        tuple(id for _, id, _ in reversed(mentions[-NEWEST_MENTIONS:])),
        tuple(sorted(domains)[:MOST_DOMAINS]),
        # The newest stands last.
        {one.level: id for one, id in said if one.level is not None},
        {one.score: id for one, id in said if one.score is not None},
    )


def _said(row: Document, findings: Mapping[str, Document]) -> Said:
    if "level" in row:
        return Said(row["level"], row["score"])
    return said_in(findings.get(row["article_id"], {}), row["type"], row["value"])


def _by_article(rows: Iterable[Document]) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = defaultdict(list)
    for row in rows:
        found[row["article_id"]].append(row)
    return found


async def _hits(index: Index, query: Document, members: Sequence[str]) -> list[Any]:
    """Return every document that matches, with these members; in one step where they are not too many."""
    asked = {"query": query, "_source": members}
    body = {**asked, "size": _HITS_AT_ONCE, "sort": ["_doc"], "track_total_hits": False}
    answer = await index.search(body, patience=Patience.LONG)
    found: list[Any] = answer["hits"]["hits"]
    if len(found) < _HITS_AT_ONCE:
        return found
    return [hit async for page in index.pages(asked, ["_shard_doc"], _HITS_AT_ONCE) for hit in page]
