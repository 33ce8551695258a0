"""Fill one new index from an old one that is still written to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.client import Cluster, Patience
from intel.store.elastic.documents import Document
from intel.store.elastic.index import Index

_IDS_AT_ONCE = 5_000


class Copying:
    """Copies what `old` holds to `new`, rebuilt; `done` counts what `everything` has copied."""

    def __init__(
        self,
        cluster: Cluster,
        bulk: Bulk,
        old: str,
        new: str,
        rebuild: Callable[[Sequence[Document]], Awaitable[Sequence[Document]]],
        at_once: int,
    ) -> None:
        self._cluster = cluster
        self._bulk = bulk
        self._old = Index(cluster, old)
        self._new = Index(cluster, new)
        self._rebuild = rebuild
        self._at_once = at_once
        # By shard: each counts its writes for itself.
        self._copied_up_to: dict[str, int] = {}
        self.done = 0

    async def total(self) -> int:
        """Return how many documents there are to copy."""
        return await self._count(self._old)

    async def everything(self) -> AsyncIterator[int]:
        """Copy all documents; yield after each portion how many there were so far."""
        self._copied_up_to = await self._make_visible()
        async for page in self._old.pages({}, ["_shard_doc"], self._at_once):
            await self._put(page)
            self.done += len(page)
            yield self.done

    async def changes(self) -> int:
        """Copy what was written since the last time; return how many documents that were."""
        up_to = await self._make_visible()
        count = 0
        for shard in up_to:
            newer = {"query": {"range": {"_seq_no": {"gt": self._copied_up_to.get(shard, -1)}}}}
            async for page in self._old.pages(newer, ["_shard_doc"], self._at_once, shard):
                await self._put(page)
                count += len(page)
        self._copied_up_to = up_to
        return count

    async def take_out_deleted(self) -> None:
        """Delete what the old index, blocked by now, no longer holds, and make the new one visible."""
        await self._new.refresh()
        if await self._count(self._new) == await self._count(self._old):
            return
        async for page in self._new.pages({"_source": False}, ["_shard_doc"], _IDS_AT_ONCE):
            gone = await self._gone({hit["_id"] for hit in page})
            await self._bulk.write_all(Write("delete", self._new.name, id) for id in gone)
        await self._new.refresh()

    async def _gone(self, ids: set[str]) -> set[str]:
        query = {"query": {"ids": {"values": sorted(ids)}}, "size": len(ids), "_source": False}
        kept = await self._old.search(query, patience=Patience.LONG)
        return ids - {hit["_id"] for hit in kept["hits"]["hits"]}

    async def _count(self, index: Index) -> int:
        answer = await self._cluster.ask("GET", f"/{index.name}/_count", patience=Patience.LONG)
        return int(answer["count"])

    async def _make_visible(self) -> dict[str, int]:
        """Return for each shard the number up to which every write is visible from now on."""
        path = f"/{self._old.name}/_stats/docs"
        answer = await self._cluster.ask("GET", path, patience=Patience.LONG, level="shards")
        shards = answer["indices"][self._old.name]["shards"]
        primaries = {
            shard: next(copy for copy in copies if copy["routing"]["primary"]) for shard, copies in shards.items()
        }
        await self._old.refresh()
        return {shard: int(primary["seq_no"]["local_checkpoint"]) for shard, primary in primaries.items()}

    async def _put(self, hits: Sequence[dict[str, Any]]) -> None:
        documents = await self._rebuild([hit["_source"] for hit in hits])
        pairs = zip(hits, documents, strict=True)
        place = self._new.name
        await self._bulk.write_all(Write("index", place, hit["_id"], document, alias=False) for hit, document in pairs)
