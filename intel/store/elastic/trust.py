"""The trust of sources: a document for each that is not trusted as usual, known to a process for some seconds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from intel.confidence import USUAL_TRUST
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import digest
from intel.store.elastic.index import Index
from intel.store.elastic.pauses import TryAgain, retried

_KNOWN_SECONDS: Final = 3.0
# One answer holds at most 65,536 buckets: for each indicator its own, one for each level, and one for all others.
_MOST_BUCKETS: Final = 60_000
_USUAL: Final = str(USUAL_TRUST)
_BUCKETS: Final = "aggregations.iocs.buckets.key,aggregations.iocs.buckets.levels.buckets.*.doc_count"


class ElasticTrusts:
    """`intel.store.port.Trusts`."""

    def __init__(self, trusts: Index, sightings: Index) -> None:
        self._trusts = trusts
        self._sightings = sightings
        self._known: dict[str, int] = {}
        self._known_until = 0.0

    async def set(self, source: str, trust: int) -> int:
        before = await self._set(source, trust)
        await self._trusts.refresh()
        self._known_until = 0.0
        return before

    @retried()
    async def _set(self, source: str, trust: int) -> int:
        id, document = trust_id(source), {"source": source, "trust": trust}
        found = await self._trusts.get(id)
        if found is None:
            if trust != USUAL_TRUST and await self._trusts.create(id, document) is None:
                raise TryAgain
            return USUAL_TRUST
        usual = trust == USUAL_TRUST
        done = await self._trusts.delete(found) if usual else await self._trusts.replace(found, document)
        if not done:
            raise TryAgain
        return int(found.source["trust"])

    async def all(self) -> dict[str, int]:
        hits = await self._trusts.hits({}, [{"source": "asc"}])
        return {hit["_source"]["source"]: int(hit["_source"]["trust"]) for hit in hits}

    async def best_of(self, ids: Sequence[str]) -> dict[str, int]:
        if not ids:
            return {}
        if time.monotonic() >= self._known_until:
            self._known, self._known_until = await self.all(), time.monotonic() + _KNOWN_SECONDS
        if not self._known:
            return {}
        levels = _by_level(self._known)
        found: dict[str, int] = {}
        at_once = _MOST_BUCKETS // (len(levels) + 2)
        for start in range(0, len(ids), at_once):
            found |= await self._best(ids[start : start + at_once], levels)
        return found

    async def _best(self, ids: Sequence[str], levels: Mapping[int, Sequence[str]]) -> dict[str, int]:
        named = {str(level): {"terms": {"counted_source": names}} for level, names in levels.items()}
        each = {"levels": {"filters": {"filters": named, "other_bucket_key": _USUAL}}}
        body = {
            "size": 0,
            "track_total_hits": False,
            "query": {"terms": {"ioc_id": ids}},
            "aggs": {"iocs": {"terms": {"field": "ioc_id", "size": len(ids), "execution_hint": "map"}, "aggs": each}},
        }
        answer = await self._sightings.search(body, patience=Patience.READ, filter_path=_BUCKETS)
        buckets = answer.get("aggregations", {}).get("iocs", {}).get("buckets", [])
        best = {bucket["key"]: _highest(bucket["levels"]["buckets"].items()) for bucket in buckets}
        return {id: trust for id, trust in best.items() if trust != USUAL_TRUST}


def trust_id(source: str) -> str:
    """Return the id of a source's document; a name may be longer than an id."""
    return digest(source)


def _by_level(trusts: Mapping[str, int]) -> dict[int, list[str]]:
    ordered = sorted(trusts.items(), key=lambda one: one[1])
    return {level: [name for name, _ in some] for level, some in groupby(ordered, key=lambda one: one[1])}


def _highest(levels: Iterable[tuple[str, Any]]) -> int:
    return max((int(name) for name, bucket in levels if bucket["doc_count"]), default=USUAL_TRUST)
