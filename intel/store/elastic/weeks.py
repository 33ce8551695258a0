"""Weekly roundups: a document for each revision."""

from __future__ import annotations

from intel.records import Week
from intel.store.elastic.documents import from_document, to_document
from intel.store.elastic.index import Index
from intel.store.elastic.queries import term


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

    async def get(self, id: str, revision: int | None = None) -> Week | None:
        if revision is not None:
            found = await self._weeks.get(f"{id}-{revision}")
            return None if found is None else from_document(Week, found.source)
        newest = {"query": term("id", id), "sort": [{"revision": "desc"}], "size": 1, "track_total_hits": False}
        answer = await self._weeks.search(newest)
        return next((from_document(Week, hit["_source"]) for hit in answer["hits"]["hits"]), None)
