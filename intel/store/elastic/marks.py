"""Marks of warning lists: a member of each indicator's document; by which lists, a document beside the leases says."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from intel.store.elastic.bulk import Bulk, expecting
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import is_there
from intel.store.elastic.index import Index
from intel.store.elastic.kept import Changing
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import THERE
from intel.store.marks import Marked

_BASIS_ID = "warned-basis"
_AT_ONCE = 1_000
_MEMBERS = ["id", "type", "value", "warned"]


class ElasticMarks:
    """`intel.store.marks.Marks`."""

    def __init__(self, iocs: Index, leases: Index, bulk: Bulk, changing: Changing) -> None:
        """`changing`: within it the basis changes."""
        self._changing = changing
        self._iocs = iocs
        self._leases = leases
        self._bulk = bulk

    async def basis(self) -> str:
        found = await self._leases.get(_BASIS_ID)
        return "" if found is None else str(found.source["basis"])

    @retried()
    async def settle(self, basis: str) -> None:
        found, document = await self._leases.get(_BASIS_ID), {"basis": basis}
        with self._changing():
            if found is None:
                written = await self._leases.create(_BASIS_ID, document)
            else:
                written = await self._leases.replace(found, document)
        if written is None:
            raise TryAgain

    async def every(self) -> AsyncGenerator[tuple[Marked, ...], None]:
        asked = {"query": THERE, "_source": _MEMBERS}
        await self._iocs.refresh()
        async with aclosing(self._iocs.pages(asked, ["_shard_doc"], _AT_ONCE)) as pages:
            async for page in pages:
                found = (hit["_source"] for hit in page)
                yield tuple(Marked(one["id"], one["type"], one["value"], one.get("warned", False)) for one in found)

    async def mark(self, warned: Mapping[str, bool]) -> None:
        await self._mark(dict(warned))
        await self._iocs.refresh()

    @retried()
    async def _mark(self, left: dict[str, bool]) -> None:
        """Write the marks that are left, each onto the version that was read."""
        found = await self._iocs.get_many([*left], source=["first_seen"], patience=Patience.LONG)
        there = [one for one in found.values() if is_there(one.source)]
        writes = [expecting("update", one, {"warned": left[one.id]}) for one in there]
        passed = await self._bulk.try_all(writes)
        for write, done in zip(writes, passed, strict=True):
            if done:
                del left[write.id]
        if not all(passed):
            raise TryAgain
