"""Files that were handed in, each a document with its bytes."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from dataclasses import fields
from datetime import datetime

from intel.records import HandedFile
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import from_document, to_document
from intel.store.elastic.documents import moment as as_text
from intel.store.elastic.index import Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import term
from intel.store.waiting import FILE_BOUNDS, FileBounds

_MEMBERS = [field.name for field in fields(HandedFile)]


class ElasticFiles:
    """`intel.store.files.Files`."""

    def __init__(self, files: Index) -> None:
        self._files = files

    async def put(self, file: HandedFile, body: bytes, bounds: FileBounds = FILE_BOUNDS) -> None:
        bounds.check(file.size, *await self._sizes(file.account_id))
        encoded = await asyncio.to_thread(lambda: b64encode(body).decode())
        await self._files.create(file.id, {**to_document(file), "body": encoded})

    async def _sizes(self, account_id: str) -> tuple[int, int]:
        """Return how many bytes are kept, in all and of one account."""
        await self._files.refresh(Patience.REFRESH)
        size = {"sum": {"field": "size"}}
        own = {"filter": term("account_id", account_id), "aggs": {"size": size}}
        asked = {"size": 0, "track_total_hits": False, "aggs": {"size": size, "own": own}}
        found = (await self._files.search(asked))["aggregations"]
        return int(found["size"]["value"]), int(found["own"]["size"]["value"])

    async def get(self, id: str) -> bytes | None:
        found = await self._files.get(id, ["body"])
        return None if found is None else await asyncio.to_thread(b64decode, found.source["body"])

    @retried()
    async def remove(self, id: str) -> None:
        found = await self._files.get(id, ["id"])
        if found is not None and not await self._files.delete(found):
            raise TryAgain

    async def before(self, moment: datetime, limit: int) -> tuple[HandedFile, ...]:
        await self._files.refresh()
        asked = {
            "query": {"range": {"created_at": {"lt": as_text(moment)}}},
            "sort": [{"created_at": "asc"}, {"id": "asc"}],
            "size": limit,
            "track_total_hits": False,
            "_source": _MEMBERS,
        }
        hits = (await self._files.search(asked))["hits"]["hits"]
        return tuple(from_document(HandedFile, hit["_source"]) for hit in hits)
