"""Read and write one noun's documents by id behind its alias, search them, and read through all of them.

A write names what it expects to find and carries a random `nonce`, so that after a lost answer reading back tells
whether it passed. It goes to the very index that was read, so that it can never pass by accident on a rebuilt one.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from intel.errors import StoreUnavailable
from intel.store.elastic.client import (
    AnswerLost,
    Cluster,
    Conflict,
    IndexMissing,
    Patience,
    WritesBlocked,
)
from intel.store.elastic.parts import ask_parts
from intel.store.elastic.pauses import LOST_SECONDS, TryAgain, retried
from intel.store.elastic.reads import MOST_GATHERED, Reads

Document = dict[str, Any]

_LONGEST_ID_BYTES = 512
_IDS_AT_ONCE = 1_000
_PAGE = 1_000
_HELD = "2m"
_HIT = "hits.hits._id,hits.hits._source,hits.hits.sort,hits.hits._seq_no,hits.hits._primary_term,hits.hits._index"
# Else an answer without the hits of a shard that is away looks like a whole one.
_WHOLE = "allow_partial_search_results"
_HEADER = b'{"index":"%b","allow_partial_search_results":false}\n%b\n'
_SEARCH_FILTER = f"hits.total.value,{_HIT},hits.hits._score,aggregations"


@dataclass(frozen=True, slots=True)
class Found:
    """A document as it was read, with what a later write has to name."""

    index: str
    id: str
    seq_no: int
    primary_term: int
    source: Document


class Index:
    """The documents of one noun, behind the alias `name`."""

    def __init__(self, cluster: Cluster, name: str, reads: Reads | None = None) -> None:
        """`reads`: what reads a few of its documents together with those of other indices, where they are short."""
        self.name = name
        self._cluster = cluster
        self._reads = reads
        # Whether something was written through this object that searches may not see yet.
        self._has_unseen = True

    async def get(self, id: str, members: Sequence[str] = ()) -> Found | None:
        """Return the document as it is now, with these members or all."""
        if not _is_possible(id):
            return None
        if self._reads is not None:
            (answer,) = await self._reads(self.name, [id], members or True)
        else:
            only: dict[str, Any] = {"_source_includes": ",".join(members)} if members else {}
            answer = await self._cluster.ask("GET", f"/{self.name}/_doc/{quote(id, safe='')}", **only)
        return as_found(answer) if answer.get("found") else None

    async def get_many(
        self, ids: Sequence[str], source: bool | Sequence[str] = True, patience: Patience = Patience.READ
    ) -> dict[str, Found]:
        """Return those of the given ids that exist, as they are now; `source` names the members to read."""
        found: dict[str, Found] = {}
        wanted = [id for id in dict.fromkeys(ids) if _is_possible(id)]
        if self._reads is not None and 0 < len(wanted) <= MOST_GATHERED and patience is Patience.READ:
            answers = await self._reads(self.name, wanted, source)
            return {answer["_id"]: as_found(answer) for answer in answers if answer.get("found")}
        for start in range(0, len(wanted), _IDS_AT_ONCE):
            docs = [{"_id": id, "_source": source} for id in wanted[start : start + _IDS_AT_ONCE]]
            answers = await ask_parts(self._cluster, f"/{self.name}/_mget", {"docs": docs}, "docs", patience)
            found.update((answer["_id"], as_found(answer)) for answer in answers if answer.get("found"))
        return found

    async def sources(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents that exist, as they are now, in the order of the ids.

        Whole ones, and all that is said of them: the cluster passes those on as they are stored, while for parts of
        them it has to parse each and to write it anew.
        """
        found: list[Document] = []
        wanted = [id for id in dict.fromkeys(ids) if _is_possible(id)]
        if self._reads is not None and 0 < len(wanted) <= MOST_GATHERED:
            answers = await self._reads(self.name, wanted, True)
            return [answer["_source"] for answer in answers if answer.get("found")]
        for start in range(0, len(wanted), _IDS_AT_ONCE):
            body = {"ids": wanted[start : start + _IDS_AT_ONCE]}
            answers = await ask_parts(self._cluster, f"/{self.name}/_mget", body, "docs")
            found += [answer["_source"] for answer in answers if answer.get("found")]
        return found

    async def visible(self, ids: Sequence[str], members: Sequence[str]) -> dict[str, Found]:
        """Return these members of those of the documents (at most 10,000) that searches see.

        Costs less than reading by id where most of the documents do not exist.
        """
        query = {"bool": {"filter": [{"ids": {"values": ids}}]}}
        asked = {"query": query, "size": len(ids), "_source": members, "seq_no_primary_term": True}
        answer = await self.search(asked | {"track_total_hits": False}, patience=Patience.LONG)
        return {hit["_id"]: as_found(hit) for hit in answer["hits"]["hits"]}

    async def create(self, id: str, document: Document) -> Found | None:
        """Store a new document; return None if there is one already."""
        path = f"/{self.name}/_create/{quote(id, safe='')}"
        return await self._write(path, id, document, require_alias="true")

    async def replace(self, found: Found, document: Document) -> Found | None:
        """Replace a document that was read; return None if it, or its index, changed since."""
        path = f"/{found.index}/_doc/{quote(found.id, safe='')}"
        expected = {"if_seq_no": found.seq_no, "if_primary_term": found.primary_term}
        try:
            return await self._write(path, found.id, document, **expected)
        except IndexMissing:
            return None

    async def delete(self, found: Found) -> bool:
        """Delete a document that was read; return False if it changed since."""
        path = f"/{found.index}/_doc/{quote(found.id, safe='')}"
        expected = {"if_seq_no": found.seq_no, "if_primary_term": found.primary_term}
        self._has_unseen = True
        try:
            await self._cluster.ask("DELETE", path, None, Patience.WRITE, **expected)
        except WritesBlocked:
            await self._cluster.met_block()
            return False
        except (Conflict, IndexMissing):
            return False
        return True

    async def _write(self, path: str, id: str, document: Document, **expected: Any) -> Found | None:
        document = {**document, "nonce": secrets.token_hex(8)}
        self._has_unseen = True
        lost_until = time.monotonic() + LOST_SECONDS

        @retried()
        async def attempt() -> Found | None:
            try:
                answer = await self._cluster.ask("PUT", path, document, Patience.WRITE, **expected)
                return Found(answer["_index"], id, answer["_seq_no"], answer["_primary_term"], document)
            except Conflict:
                # A repeated write meets its own document; Elasticsearch may even answer a write it made so by itself.
                found = await self.get(id)
                return found if found and found.source.get("nonce") == document["nonce"] else None
            except AnswerLost:
                if time.monotonic() > lost_until:
                    raise
            except WritesBlocked:
                await self._cluster.met_block()
                if "if_seq_no" in expected:
                    return None
            raise TryAgain

        return await attempt()

    async def refresh(self, patience: Patience = Patience.LONG) -> None:
        """Make everything written so far visible to searches.

        With the patience of REFRESH, for what people read, one that gets no answer is done without: a node that stands
        still would delay every read, and the others show what they have.
        """
        try:
            await self._cluster.ask("POST", f"/{self.name}/_refresh", patience=patience)
        except AnswerLost:
            if patience is not Patience.REFRESH:
                raise

    async def refresh_own(self) -> None:
        """Make visible what was written through this object, if anything was.

        For who looks again and again: what others write the cluster shows by itself, within a second.
        """
        if not self._has_unseen:
            return
        self._has_unseen = False
        try:
            await self.refresh()
        except BaseException:
            self._has_unseen = True
            raise

    async def refresh_beside(self, *others: Index) -> None:
        """Make everything written so far visible to searches, in other indices too."""
        names = ",".join([self.name, *(other.name for other in others)])
        await self._cluster.ask("POST", f"/{names}/_refresh", patience=Patience.LONG)

    async def search(
        self, body: Mapping[str, Any], *, patience: Patience = Patience.READ, filter_path: str = _SEARCH_FILTER
    ) -> Any:
        """Return the answer to a search, without what nobody reads of it."""
        path = f"/{self.name}/_search?{_WHOLE}=false&filter_path={filter_path}"
        answer = await self._cluster.ask("POST", path, body, patience)
        answer.setdefault("hits", {}).setdefault("hits", [])
        return answer

    async def search_many(self, bodies: Sequence[Mapping[str, Any]], filter_path: str = "") -> list[Any]:
        """Return the answers to several searches that are sent in one request, each as `search` does, or whole: that is
        cheapest where whole documents are asked for.
        """
        return await self.search_beside([(self, body) for body in bodies], filter_path)

    async def search_beside(self, searches: Sequence[tuple[Index, Mapping[str, Any]]], filter_path: str) -> list[Any]:
        """Do as `search_many`, each search in an index of its own."""
        lines = b"".join([_HEADER % (one.name.encode(), orjson.dumps(body)) for one, body in searches])
        answers = await ask_parts(self._cluster, f"/{self.name}/_msearch", lines, "responses", filter_path=filter_path)
        for answer in answers:
            answer.setdefault("hits", {}).setdefault("hits", [])
        return answers

    async def hits(self, body: Mapping[str, Any], sort: Sequence[Any]) -> list[Any]:
        """Return all hits of a search, in one request where they fit into one."""
        first = {**body, "sort": sort, "size": _PAGE, "track_total_hits": False}
        found: list[Any] = (await self.search(first))["hits"]["hits"]
        if len(found) < _PAGE:
            return found
        return [hit async for page in self.pages(body, sort) for hit in page]

    async def pages(
        self, body: Mapping[str, Any], sort: Sequence[Any], size: int = _PAGE, shard: str | None = None
    ) -> AsyncGenerator[list[Any], None]:
        """Yield all hits of a search, page by page, as they were at its beginning: of one shard or of all."""
        async with self.held(shard) as pit, aclosing(self.pages_of(pit, body, sort, size)) as pages:
            async for page in pages:
                yield page

    @asynccontextmanager
    async def held(self, shard: str | None = None) -> AsyncIterator[str]:
        """Hold the documents as searches see them now, for two minutes after each page; yield the name of that."""
        only: dict[str, Any] = {} if shard is None else {"preference": f"_shards:{shard}"}
        opened = await self._cluster.ask("POST", f"/{self.name}/_pit", keep_alive=_HELD, **only)
        try:
            yield opened["id"]
        finally:
            await self._forget(opened["id"])

    async def pages_of(
        self, pit: str, body: Mapping[str, Any], sort: Sequence[Any], size: int = _PAGE
    ) -> AsyncGenerator[list[Any], None]:
        """Yield all hits of a search, page by page, in what `held` holds."""
        asked = {**body, "size": size, "sort": sort, "track_total_hits": False}
        while True:
            asked["pit"] = {"id": pit, "keep_alive": _HELD}
            params = {_WHOLE: "false", "filter_path": f"pit_id,{_HIT}"}
            answer = await self._cluster.ask("POST", "/_search", asked, Patience.LONG, **params)
            hits = answer.get("hits", {}).get("hits", [])
            if hits:
                yield hits
            if len(hits) < size:
                return
            asked["search_after"] = hits[-1]["sort"]

    async def count_of(self, pit: str, query: Mapping[str, Any]) -> int:
        """Count the hits of a query in what `held` holds, and hold it for two minutes more."""
        asked = {"query": query, "size": 0, "track_total_hits": True, "pit": {"id": pit, "keep_alive": _HELD}}
        params = {_WHOLE: "false", "filter_path": "hits.total.value"}
        answer = await self._cluster.ask("POST", "/_search", asked, Patience.LONG, **params)
        return int(answer["hits"]["total"]["value"])

    async def _forget(self, pit: str) -> None:
        try:
            await self._cluster.ask("DELETE", "/_pit", {"id": pit})
        except StoreUnavailable:
            return  # it ends by itself


def as_found(document: Mapping[str, Any]) -> Found:
    """Return a document of an answer."""
    return Found(
        document["_index"], document["_id"], document["_seq_no"], document["_primary_term"], document.get("_source", {})
    )


def _is_possible(id: str) -> bool:
    try:
        return 0 < len(id.encode()) <= _LONGEST_ID_BYTES
    except UnicodeEncodeError:
        return False
