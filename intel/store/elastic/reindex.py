"""Rebuild the indices: a new one for each noun, filled while reads and writes go on, takes the old one's place in one
step.

copy everything · copy what changed since, until little is left · block writes to the old index · copy the rest, delete
what was deleted · lead the alias to the new index

Writers that meet the block wait and come through the alias to the new index. The old one stays, blocked, until the next
time, so that a write prepared against it fails instead of vanishing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

from intel.store.elastic.bulk import Bulk
from intel.store.elastic.client import Cluster
from intel.store.elastic.copying import Copying
from intel.store.elastic.documents import Document, recounted_sighting, with_words
from intel.store.elastic.index import Index
from intel.store.elastic.indices import Indices
from intel.store.elastic.lease import Lease
from intel.store.elastic.recount import IOCS_AT_ONCE, Recount
from intel.store.elastic.saving import is_complete
from intel.store.port import Progress

_FEW_CHANGES = 50
_MOST_ROUNDS = 20
_LARGE_AT_ONCE = 20
_LARGE = ("articles", "weeks", "readings", "catalogue_parts", "votes")

Rebuild = Callable[[Sequence[Document]], Awaitable[Sequence[Document]]]


class Reindex:
    """Rebuilds every index but the leases'."""

    def __init__(self, cluster: Cluster, indices: Indices, leases: Index, bulk: Bulk, recount: Recount) -> None:
        self._cluster = cluster
        self._indices = indices
        self._leases = leases
        self._bulk = bulk
        self._recount = recount

    async def run(self, progress: Progress) -> None:
        """`intel.store.port.Store.reindex`."""
        await self._indices.make()
        lease = Lease(self._leases)
        await lease.take()
        try:
            await _all_or_none(self._rebuild(noun, lease, progress) for noun in self._nouns)
        finally:
            await lease.give_back()

    async def recover(self) -> None:
        """Remove what an interrupted rebuilding left behind: half-filled indices and blocks."""
        lease = Lease(self._leases)
        if await lease.take_over():
            for noun in self._nouns:
                live = await self._indices.live(noun)
                await self._drop_others(noun)
                await self._indices.allow_writes(live.name)
            await lease.give_back()

    @property
    def _nouns(self) -> list[str]:
        return [noun for noun in self._indices.nouns if noun != "leases"]

    async def _rebuild(self, noun: str, lease: Lease, progress: Progress) -> None:
        await self._drop_others(noun)
        old = await self._indices.live(noun)
        new = await self._indices.create_next(noun, old.number + 1)
        copying = Copying(self._cluster, self._bulk, old.name, new, self._rebuilder(noun), _at_once(noun))
        try:
            await self._fill(noun, copying, lease, progress)
            await self._indices.block_writes(old.name)
            await copying.changes()
            await copying.take_out_deleted()
            await lease.take()
            await self._indices.exchange(noun, old.name, new)
        except BaseException:
            if await self._indices.abandon(noun, old.name, new):
                await self._indices.allow_writes(old.name)
            raise
        progress(noun, copying.done, copying.done)

    async def _fill(self, noun: str, copying: Copying, lease: Lease, progress: Progress) -> None:
        total = await copying.total()
        async for done in copying.everything():
            await lease.keep()
            progress(noun, min(done, total), total)
        for _ in range(_MOST_ROUNDS):
            await lease.keep()
            if await copying.changes() <= _FEW_CHANGES:
                break

    async def _drop_others(self, noun: str) -> None:
        versions = await self._indices.versions(noun)
        live = next(version for version in versions if version.live)
        for version in versions:
            if version.number < live.number:
                await self._indices.drop(version.name)
            elif version.number > live.number:
                await self._indices.abandon(noun, live.name, version.name)

    def _rebuilder(self, noun: str) -> Rebuild:
        if noun == "iocs":
            return self._recount.rebuilt
        if noun == "articles":
            return _each(lambda article: with_words(article) if is_complete(article) else article)
        if noun == "sightings":
            return _each(lambda sighting: recounted_sighting(sighting, sighting["counted_source"]))
        return _each(lambda document: document)


async def _all_or_none(rebuildings: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Wait for all; if one fails, let the others clean up first."""
    tasks = [asyncio.create_task(rebuilding) for rebuilding in rebuildings]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _at_once(noun: str) -> int:
    return _LARGE_AT_ONCE if noun in _LARGE else IOCS_AT_ONCE


def _each(change: Callable[[Document], Document]) -> Rebuild:
    async def rebuild(documents: Sequence[Document]) -> Sequence[Document]:
        return [change(document) for document in documents]

    return rebuild
