"""Catalogues: a document says which import counts; the parts of each import stand under its number.

begin: take the next number · write the parts under it · lead readers to it in one step, unless they are at a later one
already, or not at the one that it was to follow · delete the parts of earlier imports

A reader who misses a part checks whether another import took the place meanwhile, and if so reads anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from urllib.parse import quote

from intel.errors import StoreUnavailable
from intel.records import Catalogue
from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.documents import Document, from_document, to_document
from intel.store.elastic.index import Index
from intel.store.elastic.kept import Changing
from intel.store.elastic.packing import pack, unpack
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import term
from intel.times import from_rfc3339

# There is one for each kind of list, far fewer than these.
_MOST_CATALOGUES = 10_000
_PARTS_AT_ONCE = 50
_IDS_AT_ONCE = 5_000
NONE_YET = 0


class ElasticCatalogues:
    """`intel.store.port.Catalogues`."""

    def __init__(self, catalogues: Index, parts: Index, bulk: Bulk, changing: Changing) -> None:
        """`changing`: within it another import comes to count."""
        self._changing = changing
        self._catalogues = catalogues
        self._parts = parts
        self._bulk = bulk

    async def put(self, catalogue: Catalogue, parts: Mapping[str, bytes], over: int | None = None) -> bool:
        generation = await self._begin(catalogue, over)
        if generation == NONE_YET:
            return False
        await self._write_parts(catalogue.name, generation, parts)
        with self._changing():
            standing = await self._lead_to(catalogue, generation, over)
        await self._catalogues.refresh()
        # What is left is in nobody's way and goes with the next import.
        with suppress(StoreUnavailable):
            await self._take_out_before(catalogue.name, standing)
        return over is None or standing == generation

    async def all(self) -> tuple[Catalogue, ...]:
        asked = {"sort": [{"name": "asc"}], "size": _MOST_CATALOGUES, "track_total_hits": False}
        found = [hit["_source"] for hit in (await self._catalogues.search(asked))["hits"]["hits"]]
        return tuple(from_document(Catalogue, one) for one in found if one["generation"] != NONE_YET)

    async def imported_at(self, name: str) -> datetime | None:
        found = await self._catalogues.get(name, ["generation", "imported_at"])
        if found is None or found.source["generation"] == NONE_YET:
            return None
        return from_rfc3339(found.source["imported_at"])

    async def get(self, name: str) -> tuple[Catalogue, int] | None:
        found = await self._catalogues.get(name)
        if found is None or found.source["generation"] == NONE_YET:
            return None
        return from_document(Catalogue, found.source), int(found.source["generation"])

    @retried()
    async def parts(self, name: str, keys: Sequence[str]) -> dict[str, bytes]:
        generation = await self._generation(name)
        if generation == NONE_YET or not keys:
            return {}
        found = await self._read_parts(name, generation, keys)
        if len(found) < len(set(keys)) and await self._generation(name) != generation:
            raise TryAgain
        return found

    async def _generation(self, name: str) -> int:
        found = await self._catalogues.get(name, ["generation"])
        return NONE_YET if found is None else int(found.source["generation"])

    @retried()
    async def _begin(self, catalogue: Catalogue, over: int | None) -> int:
        """Take the next number; none where another import than `over` counts already."""
        found = await self._catalogues.get(catalogue.name)
        if over not in (None, NONE_YET if found is None else found.source["generation"]):
            return NONE_YET
        if found is None:
            first = {**to_document(catalogue), "begun": 1, "generation": NONE_YET}
            if await self._catalogues.create(catalogue.name, first):
                return 1
            raise TryAgain
        begun = int(found.source["begun"]) + 1
        if await self._catalogues.replace(found, {**found.source, "begun": begun}):
            return begun
        raise TryAgain

    async def _write_parts(self, name: str, generation: int, parts: Mapping[str, bytes]) -> None:
        left = iter(parts.items())
        while portion := list(islice(left, _PARTS_AT_ONCE)):
            documents = await asyncio.to_thread(_part_documents, name, generation, portion)
            ids = [part_id(name, generation, key) for key, _ in portion]
            place = self._parts.name
            await self._bulk.write_all(Write("index", place, *one) for one in zip(ids, documents, strict=True))

    @retried()
    async def _lead_to(self, catalogue: Catalogue, generation: int, over: int | None) -> int:
        """Return the import that counts from now on: this one, or one that began later and ended sooner, or, where this
        one was to follow `over`, another that did.
        """
        found = await self._catalogues.get(catalogue.name)
        if found is None:
            raise StoreUnavailable("the catalogue was deleted while it was imported")
        standing = int(found.source["generation"])
        if standing > generation or over not in (None, standing):
            return standing
        leading = {**to_document(catalogue), "begun": found.source["begun"], "generation": generation}
        if await self._catalogues.replace(found, leading):
            return generation
        raise TryAgain

    async def _take_out_before(self, name: str, generation: int) -> None:
        await self._parts.refresh()
        earlier = [term("catalogue", name), {"range": {"generation": {"lt": generation}}}]
        body = {"query": {"bool": {"filter": earlier}}, "_source": False}
        async for page in self._parts.pages(body, ["_shard_doc"], _IDS_AT_ONCE):
            await self._bulk.write_all(Write("delete", self._parts.name, hit["_id"]) for hit in page)

    async def _read_parts(self, name: str, generation: int, keys: Sequence[str]) -> dict[str, bytes]:
        ids = {part_id(name, generation, key): key for key in keys}
        wanted = list(ids)
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), _PARTS_AT_ONCE):
            documents = await self._parts.get_many(wanted[start : start + _PARTS_AT_ONCE], source=["body"])
            found |= {ids[id]: unpack(one.source["body"]) for id, one in documents.items()}
        return found


def part_id(name: str, generation: int, key: str) -> str:
    """Return the id of the document of a part."""
    # Without a colon of its own a name ends at the first one.
    return f"{quote(name, safe='')}:{generation}:{key}"


def _part_documents(name: str, generation: int, parts: Sequence[tuple[str, bytes]]) -> list[Document]:
    return [part_document(name, generation, content) for _, content in parts]


def part_document(name: str, generation: int, content: bytes) -> Document:
    """Return the document of a part."""
    return {"catalogue": name, "generation": generation, "body": pack(content)}
