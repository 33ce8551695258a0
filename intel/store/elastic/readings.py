"""What the revisions of articles said: a document for each, which may be long and is packed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

from intel.query import CandidatePage, CandidateQuery
from intel.records import Reading
from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import Document, moment
from intel.store.elastic.index import Index
from intel.store.elastic.packing import pack_json, unpack, unpack_json
from intel.store.elastic.queries import term
from intel.store.weighing import after_value, candidates_in, page_of
from intel.times import from_rfc3339

_MOST_OUTLINES = 100


class ElasticReadings:
    """`intel.store.port.Readings`."""

    def __init__(self, readings: Index, bulk: Bulk) -> None:
        self._readings = readings
        self._bulk = bulk

    async def put(self, reading: Reading) -> None:
        await self.put_many([reading])

    async def put_many(self, readings: Sequence[Reading]) -> None:
        # Packing a long text takes a while, which other requests need not wait for; so does reading it.
        writes = await asyncio.to_thread(lambda: [self._write(reading) for reading in readings])
        await self._bulk.write_all(writes)

    def _write(self, reading: Reading) -> Write:
        id = reading_id(reading.article_id, reading.revision)
        return Write("index", self._readings.name, id, reading_document(reading))

    async def get(self, article_id: str, revision: int) -> Reading | None:
        found = await self._readings.get(reading_id(article_id, revision))
        return None if found is None else await asyncio.to_thread(reading_record, found.source)

    async def forget(self, article_id: str) -> None:
        """Delete every revision of an article."""
        await self._readings.refresh()
        pages = self._readings.pages({"query": term("article_id", article_id), "_source": False}, ["_shard_doc"])
        async for page in pages:
            await self._bulk.write_all(Write("delete", self._readings.name, hit["_id"]) for hit in page)

    async def weighed(self, article_id: str, revision: int, query: CandidateQuery) -> CandidatePage | None:
        found = await self._readings.get(reading_id(article_id, revision), ["body"])
        return None if found is None else await asyncio.to_thread(_page, found.source, query)

    async def of(self, article_id: str) -> tuple[Reading, ...]:
        await self._readings.refresh(Patience.REFRESH)
        query = {
            "query": term("article_id", article_id),
            "sort": [{"revision": "desc"}],
            "size": _MOST_OUTLINES,
            "_source": {"excludes": ["body"]},
            "track_total_hits": False,
        }
        answer = await self._readings.search(query)
        return await asyncio.to_thread(_records, [hit["_source"] for hit in answer["hits"]["hits"]])


def reading_id(article_id: str, revision: int) -> str:
    """Return the id of the document of a revision."""
    return f"{article_id}:{revision}"


def reading_document(reading: Reading) -> Document:
    """Return the document of a reading."""
    return {
        "article_id": reading.article_id,
        "revision": reading.revision,
        "fetched_at": moment(reading.fetched_at),
        "title": reading.title,
        "iocs": pack_json(reading.iocs),
        "body": pack_json([reading.text, reading.candidates]),
    }


def reading_record(document: Document) -> Reading:
    """Return the reading that a document holds; without its body only the outline."""
    text, candidates = _body(document) if "body" in document else (None, None)
    return Reading(
        article_id=document["article_id"],
        revision=document["revision"],
        fetched_at=from_rfc3339(document["fetched_at"]),
        title=document["title"],
        iocs=tuple((type, value) for type, value in unpack_json(document["iocs"])),
        text=text,
        candidates=None if candidates is None else tuple(candidates),
    )


def _body(document: Document) -> tuple[str | None, Iterator[dict[str, Any]] | None]:
    """Return the text and the candidates, which stand in one array."""
    body = unpack(document["body"]).decode()
    start = after_value(body, 1)
    return json.loads(body[1 : start - 1]), candidates_in(body, start)


def _page(document: Document, query: CandidateQuery) -> CandidatePage | None:
    _, candidates = _body(document)
    return None if candidates is None else page_of(candidates, query)


def _records(documents: list[Document]) -> tuple[Reading, ...]:
    return tuple(map(reading_record, documents))
