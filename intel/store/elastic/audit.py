"""Who did what: documents whose ids are in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intel.audit import AuditEntry
from intel.store.audit import MOST_KEPT
from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.documents import Document, from_document, to_document
from intel.store.elastic.index import Index

_NEWEST_FIRST = [{"id": "desc"}]


class ElasticAudit:
    """`intel.store.audit.Audit`."""

    def __init__(self, audit: Index, bulk: Bulk) -> None:
        self._audit = audit
        self._bulk = bulk

    async def add(self, entry: AuditEntry, most_kept: int = MOST_KEPT) -> None:
        await self._audit.create(entry.id, to_document(entry))
        await self._let_go(most_kept)

    async def newest(self, limit: int, before: str | None = None) -> Sequence[AuditEntry]:
        await self._audit.refresh()
        return tuple(from_document(AuditEntry, one) for one in await self._hits(before, limit))

    async def _let_go(self, most_kept: int) -> None:
        await self._audit.refresh()
        oldest = await self._hits(None, 1, most_kept - 1)
        while oldest and (gone := await self._hits(oldest[0]["id"], 1_000)):
            await self._bulk.write_all(Write("delete", self._audit.name, one["id"]) for one in gone)
            await self._audit.refresh()

    async def _hits(self, before: str | None, limit: int, skipped: int = 0) -> list[Document]:
        query: Document = {"range": {"id": {"lt": before}}} if before is not None else {"match_all": {}}
        asked: dict[str, Any] = {"query": query, "sort": _NEWEST_FIRST, "size": limit, "from": skipped}
        answer = await self._audit.search(asked | {"track_total_hits": False})
        return [hit["_source"] for hit in answer["hits"]["hits"]]
