"""All records of the indices, read from one state of them, and written into empty ones.

The state is a point in time of each index, all opened before anything is read: first those that refer to articles, then
the articles, then what articles stand on. So a submission that is done has its article in the state. An article that is
saved anew in between is read as it is later.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from intel.audit import AuditEntry
from intel.feedback import Feedback
from intel.notes import Note
from intel.records import Account, ApiKey, Catalogue, Feed, Session, Sighting, Submission, Vote, Week
from intel.saved_searches import Delivery, SavedSearch
from intel.store.copying import (
    Address,
    BlockedDomain,
    CataloguePart,
    FirstAdministrator,
    IocChange,
    KeptFile,
    Ledger,
    Records,
    SourceTrust,
    Tagged,
)
from intel.store.elastic.accounts import FIRST_ADMINISTRATOR_ID, slot_id
from intel.store.elastic.addresses import address_document, address_id
from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.catalogues import NONE_YET, part_document, part_id
from intel.store.elastic.changes import EMPTY_LEDGER, LEDGER_ID
from intel.store.elastic.documents import (
    Document,
    article_record,
    from_document,
    is_there,
    moment,
    sighting_record,
    to_document,
)
from intel.store.elastic.index import Index
from intel.store.elastic.packing import unpack
from intel.store.elastic.readings import reading_document, reading_id, reading_record
from intel.store.elastic.searches import search_document
from intel.store.elastic.submissions import submission_document
from intel.store.elastic.tags import ElasticTags
from intel.store.elastic.trust import trust_id
from intel.store.marks import Marks
from intel.store.port import Articles, Entry, Votes
from intel.store.tags import TaggedKind
from intel.times import from_rfc3339

# The order in which points in time are opened; what stands together is opened at once.
_OPENED = (
    (
        "submissions",
        "deliveries",
        "votes",
        "notes",
        "readings",
        "keys",
        "sessions",
        "weeks",
        "iocs",
        "leases",
        "catalogue_parts",
    ),
    ("articles",),
    (
        "sightings",
        "addresses",
        "accounts",
        "feeds",
        "files",
        "searches",
        "audit",
        "blocked_domains",
        "source_trust",
        "catalogues",
        "feedback",
    ),
)
# What the copy derives anew.
DERIVED_NOUNS = frozenset({"clusters", "malware_names"})
_EVERYTHING: Document = {"match_all": {}}
_TAGGED: Document = {"exists": {"field": "tags"}}
_COMPLETE: Document = {"exists": {"field": "seen_at"}}
_IN_ORDER = ({"article_id": "asc"}, {"position": "asc"}, {"ioc_id": "asc"})
_ARTICLES_AT_ONCE = 50
_SIGHTINGS_AT_ONCE = 5_000
_VOTED_AT_ONCE = 100
_PARTS_AT_ONCE = 20
_VOTES_AT_ONCE = 8
_KEEP_SECONDS = 45
_FIRST_IMPORT = 1
_SIGHTED = ["type", "value", "context", "malware", "position", "article_id"]


@dataclass(frozen=True, slots=True)
class _Kept:
    """An index whose documents are the records of a part; `query` finds them."""

    noun: str
    record: Callable[[Document], Any]
    document: Callable[[Any], tuple[str, Document]]
    query: Document
    at_once: int = 1_000


def _kept(kind: type, noun: str, id: Callable[[Any], str], at_once: int = 1_000) -> _Kept:
    return _Kept(noun, partial(from_document, kind), lambda one: (id(one), to_document(one)), _EVERYTHING, at_once)


def _catalogue_document(catalogue: Catalogue) -> tuple[str, Document]:
    return catalogue.name, {**to_document(catalogue), "begun": _FIRST_IMPORT, "generation": _FIRST_IMPORT}


def _change(document: Document) -> IocChange:
    removed = document.get("removed")
    named = removed or document
    last_seen = document.get("changed_at") or document["last_seen"]
    added_at = document.get("added_at")
    return IocChange(
        id=named["id"],
        type=named["type"],
        value=named["value"],
        number=document.get("change_number") or 0,
        changed_at=from_rfc3339(last_seen),
        added_number=document.get("added_number") or 0,
        added_at=None if added_at is None else from_rfc3339(added_at),
        removed=removed is not None,
    )


def _change_members(change: IocChange) -> Document:
    """Return what a change says of its document."""
    members = {"change_number": change.number, "changed_at": moment(change.changed_at)}
    added_at = {"added_at": moment(change.added_at)} if change.added_at else {}
    if change.removed:
        return members | added_at | {"removed": {"id": change.id, "type": change.type, "value": change.value}}
    return members | added_at | ({"added_number": change.added_number} if change.added_number else {})


KEPT = {
    "accounts": _kept(Account, "accounts", lambda one: str(one.id)),
    "keys": _kept(ApiKey, "keys", lambda one: slot_id(one.account_id, one.slot)),
    "sessions": _kept(Session, "sessions", lambda one: str(one.id)),
    "audit": _kept(AuditEntry, "audit", lambda one: str(one.id)),
    "feeds": _kept(Feed, "feeds", lambda one: str(one.id)),
    "files": _Kept(
        "files",
        lambda one: from_document(KeptFile, {**one, "body": b64decode(one["body"])}),
        lambda one: (one.id, {**to_document(one), "body": b64encode(one.body).decode()}),
        _EVERYTHING,
        at_once=2,
    ),
    "weeks": _kept(Week, "weeks", lambda one: f"{one.id}-{one.revision}", at_once=20),
    "blocked_domains": _kept(BlockedDomain, "blocked_domains", lambda one: str(one.domain)),
    "notes": _kept(Note, "notes", lambda one: str(one.id)),
    "source_trust": _kept(SourceTrust, "source_trust", lambda one: trust_id(one.source)),
    "feedback": _kept(Feedback, "feedback", lambda one: str(one.id)),
    "searches": _Kept(
        "searches", partial(from_document, SavedSearch), lambda one: (one.id, search_document(one)), _EVERYTHING
    ),
    "deliveries": _kept(Delivery, "deliveries", lambda one: str(one.id), at_once=50),
    "submissions": _Kept(
        "submissions", partial(from_document, Submission), lambda one: (one.id, submission_document(one)), _EVERYTHING
    ),
    "readings": _Kept(
        "readings",
        reading_record,
        lambda one: (reading_id(one.article_id, one.revision), reading_document(one)),
        _EVERYTHING,
        at_once=20,
    ),
    "catalogues": _Kept("catalogues", partial(from_document, Catalogue), _catalogue_document, _EVERYTHING),
    "addresses": _Kept(
        "addresses",
        lambda one: Address(one["address"], (one["article_id"], *(one.get("others") or ()))),
        lambda one: (
            address_id(one.address),
            address_document(one.address, one.article_ids[0], list(one.article_ids[1:])),
        ),
        _EVERYTHING,
    ),
    "first_administrator": _Kept(
        "leases",
        lambda one: FirstAdministrator(one["holder"]),
        lambda one: (FIRST_ADMINISTRATOR_ID, {"holder": one.account_id, "until": 0}),
        {"ids": {"values": [FIRST_ADMINISTRATOR_ID]}},
    ),
    "ledger": _Kept(
        "leases",
        lambda one: Ledger(one["number"], from_rfc3339(one["changed_at"])),
        lambda one: (
            LEDGER_ID,
            {**EMPTY_LEDGER, "number": one.number, "closed": one.number, "changed_at": moment(one.changed_at)},
        ),
        {"ids": {"values": [LEDGER_ID]}},
    ),
    "changes": _Kept("iocs", _change, lambda one: (one.id, _change_members(one)), _EVERYTHING),
}
NOUNS = frozenset({kept.noun for kept in KEPT.values()} | {"articles", "sightings", "votes", "catalogue_parts"})


class _State:
    """The documents as points in time hold them."""

    def __init__(self, indices: Mapping[str, Index], pits: Mapping[str, str]) -> None:
        self._indices = indices
        self._pits = pits

    async def count(self, part: str) -> int:
        if part in ("votes", "tags", "catalogue_parts", "catalogues"):
            return len([None async for _ in self.of(part)])
        if part == "articles":
            return await self._indices[part].count_of(self._pits[part], _COMPLETE)
        kept = KEPT[part]
        return await self._indices[kept.noun].count_of(self._pits[kept.noun], kept.query)

    async def of(self, part: str) -> AsyncIterator[Any]:
        special: dict[str, Callable[[], AsyncGenerator[Any, None]]] = {
            "articles": self._articles,
            "votes": self._votes,
            "tags": self._tagged,
            "catalogues": self._catalogues,
            "catalogue_parts": self._catalogue_parts,
        }
        async with aclosing(special[part]() if part in special else self._kept(KEPT[part])) as records:
            async for record in records:
                yield record

    async def _kept(self, kept: _Kept) -> AsyncGenerator[Any, None]:
        async for page in self._pages(kept.noun, kept.query, kept.at_once):
            for record in await asyncio.to_thread(_records, kept, page):
                yield record

    async def _articles(self) -> AsyncGenerator[Entry, None]:
        async for page in self._pages("articles", _COMPLETE, _ARTICLES_AT_ONCE):
            sightings = await self._sightings([hit["_id"] for hit in page])
            for hit in page:
                yield Entry(article_record(hit["_source"]), tuple(sightings.get(hit["_id"], ())))

    async def _sightings(self, article_ids: Sequence[str]) -> dict[str, list[Sighting]]:
        found: dict[str, list[Sighting]] = {}
        query = {"terms": {"article_id": article_ids}}
        async for page in self._pages("sightings", query, _SIGHTINGS_AT_ONCE, _IN_ORDER, _SIGHTED):
            for hit in page:
                one = hit["_source"]
                found.setdefault(one["article_id"], []).append(sighting_record(one))
        return found

    async def _votes(self) -> AsyncGenerator[Vote, None]:
        async for page in self._pages("votes", _EVERYTHING, _VOTED_AT_ONCE):
            for hit in page:
                for account_id, said in hit["_source"]["votes"].items():
                    yield Vote(hit["_id"], account_id, said["note"], from_rfc3339(said["voted_at"]))

    async def _tagged(self) -> AsyncGenerator[Tagged, None]:
        kinds: tuple[tuple[TaggedKind, str], ...] = (("ioc", "iocs"), ("article", "articles"))
        for kind, noun in kinds:
            async for page in self._pages(noun, _TAGGED, members=["id", "tags"]):
                for hit in page:
                    yield Tagged(kind, hit["_source"]["id"], tuple(hit["_source"]["tags"]))

    async def _catalogues(self) -> AsyncGenerator[Catalogue, None]:
        for document in await self._imported():
            yield from_document(Catalogue, document)

    async def _catalogue_parts(self) -> AsyncGenerator[CataloguePart, None]:
        generations = {one["name"]: one["generation"] for one in await self._imported()}
        async for page in self._pages("catalogue_parts", _EVERYTHING, _PARTS_AT_ONCE):
            for hit in page:
                name, body = hit["_source"]["catalogue"], hit["_source"]["body"]
                if generations.get(name) == hit["_source"]["generation"]:
                    yield CataloguePart(name, hit["_id"].split(":", 2)[2], unpack(body))

    async def _imported(self) -> list[Document]:
        pages = self._pages("catalogues", _EVERYTHING)
        found = [hit["_source"] async for page in pages for hit in page]
        return [one for one in found if one["generation"] != NONE_YET]

    async def _pages(
        self,
        noun: str,
        query: Document,
        size: int = 1_000,
        sort: Sequence[Any] = ("_shard_doc",),
        members: Sequence[str] = (),
    ) -> AsyncGenerator[list[Any], None]:
        body = {"query": query, **({"_source": members} if members else {})}
        async with aclosing(self._indices[noun].pages_of(self._pits[noun], body, sort, size)) as pages:
            async for page in pages:
                yield page

    async def keep(self) -> None:
        """Hold what was not read for a while."""
        while True:
            await asyncio.sleep(_KEEP_SECONDS)
            for noun, pit in self._pits.items():
                await self._indices[noun].count_of(pit, {"match_none": {}})


def _records(kept: _Kept, page: Sequence[Document]) -> list[Any]:
    return [kept.record(hit["_source"]) for hit in page]


class ElasticCopier:
    """`intel.store.copying.Copier` of one cluster."""

    def __init__(
        self,
        index: Callable[[str], Index],
        bulk: Bulk,
        articles: Articles,
        votes: Votes,
        tags: ElasticTags,
        marks: Marks,
    ) -> None:
        self._indices = {noun: index(noun) for together in _OPENED for noun in together}
        self._bulk = bulk
        self._articles = articles
        self._votes = votes
        self._tags = tags
        self._marks = marks

    @asynccontextmanager
    async def state(self) -> AsyncIterator[Records]:
        async with AsyncExitStack() as stack:
            pits: dict[str, str] = {}
            for together in _OPENED:
                indices = [self._indices[noun] for noun in together]
                await asyncio.gather(*(index.refresh() for index in indices))
                held = [await stack.enter_async_context(index.held()) for index in indices]
                pits |= dict(zip(together, held, strict=True))
            state = _State(self._indices, pits)
            keeping = asyncio.create_task(state.keep())
            try:
                yield state
            finally:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)

    async def put(self, part: str, records: Sequence[Any]) -> None:
        if part == "articles":
            await self._articles.save_many(records)
        elif part == "votes":
            for start in range(0, len(records), _VOTES_AT_ONCE):
                await asyncio.gather(*map(self._votes.put, records[start : start + _VOTES_AT_ONCE]))
        elif part == "tags":
            await self._tags.put(records)
        elif part == "changes":
            await self._put_changes(records)
        else:
            place, documents = await asyncio.to_thread(self._documents, part, records)
            await self._bulk.write_all(Write("index", place, id, document) for id, document in documents)

    def _documents(self, part: str, records: Sequence[Any]) -> tuple[str, list[tuple[str, Document]]]:
        if part == "catalogue_parts":
            found = [
                (part_id(one.name, _FIRST_IMPORT, one.key), part_document(one.name, _FIRST_IMPORT, one.body))
                for one in records
            ]
            return self._indices[part].name, found
        kept = KEPT[part]
        return self._indices[kept.noun].name, [kept.document(one) for one in records]

    async def _put_changes(self, records: Sequence[IocChange]) -> None:
        iocs = self._indices["iocs"]
        found = await iocs.get_many([one.id for one in records], source=["first_seen"])
        there = {id for id, one in found.items() if is_there(one.source)}
        writes = [
            Write("index" if one.removed else "update", iocs.name, one.id, _change_members(one))
            for one in records
            if one.removed is (one.id not in there)
        ]
        await self._bulk.write_all(writes)

    async def finish(self) -> None:
        await asyncio.gather(*(index.refresh() for index in self._indices.values()))
        await self._marks.settle("")
