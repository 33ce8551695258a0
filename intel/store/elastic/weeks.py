"""Weekly roundups: a document for each revision."""

from __future__ import annotations

import asyncio
from datetime import datetime

from intel.records import Week
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import from_document, moment, to_document
from intel.store.elastic.index import Found, Index, as_found
from intel.store.elastic.queries import term
from intel.store.taking_back import TAKEN_BACK

# Read from the documents themselves: the mapping keeps no column of either.
_COMPARABLE = {"generated_at": {"type": "date"}, "basis": {"type": "keyword"}}
_EMPTIED_AT_ONCE = 100
_MOST_BASES = 10_000


class ElasticWeeks:
    """`intel.store.port.Weeks`."""

    def __init__(self, weeks: Index) -> None:
        self._weeks = weeks

    async def add(self, week: Week) -> bool:
        added = await self._weeks.create(f"{week.id}-{week.revision}", to_document(week)) is not None
        await self._weeks.refresh()
        return added

    async def confirm(self, week: Week) -> None:
        found = await self._weeks.get(f"{week.id}-{week.revision}")
        if found is not None:
            # Who was quicker has confirmed a basis as good as this one.
            await self._weeks.replace(found, {**found.source, "basis": week.basis})
            await self._weeks.refresh()

    async def take_back(self, since: datetime) -> None:
        await self._weeks.refresh()
        while found := await self._told_since(since):
            emptied = ({**one.source, "basis": TAKEN_BACK, "body": {}} for one in found)
            await asyncio.gather(*map(self._weeks.replace, found, emptied))
            await self._weeks.refresh()

    async def _told_since(self, since: datetime) -> list[Found]:
        told = {"range": {"generated_at": {"gte": moment(since)}}}
        query = {
            "query": {"bool": {"filter": [told], "must_not": [term("basis", TAKEN_BACK)]}},
            "runtime_mappings": _COMPARABLE,
            "size": _EMPTIED_AT_ONCE,
            "seq_no_primary_term": True,
            "_source": ["id", "revision", "generated_at"],
            "track_total_hits": False,
        }
        answer = await self._weeks.search(query, patience=Patience.LONG)
        return [as_found(hit) for hit in answer["hits"]["hits"]]

    async def get(self, id: str, revision: int | None = None) -> Week | None:
        if revision is not None:
            found = await self._weeks.get(f"{id}-{revision}")
            return None if found is None else from_document(Week, found.source)
        newest = {"query": term("id", id), "sort": [{"revision": "desc"}], "size": 1, "track_total_hits": False}
        answer = await self._weeks.search(newest)
        return next((from_document(Week, hit["_source"]) for hit in answer["hits"]["hits"]), None)

    async def bases(self, id: str) -> dict[int, str]:
        newest = [{"revision": "desc"}]
        query = {"query": term("id", id), "sort": newest, "size": _MOST_BASES, "_source": ["revision", "basis"]}
        answer = await self._weeks.search({**query, "track_total_hits": False})
        return {hit["_source"]["revision"]: hit["_source"]["basis"] for hit in answer["hits"]["hits"]}
