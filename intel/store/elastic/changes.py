"""The change feed: an indicator that changed takes the next number, and followers go by the numbers.

Writers give no numbers. They store what changed with the number 0, and who reads the feed numbers what has none, oldest
change first, a batch at a time. One document, the ledger, keeps the newest number, up to where the feed may be read
(`closed`), and the ids of the batch that is being numbered. For a batch one

1. reads the ledger, then the documents, each with its version, among them those that an earlier batch left without one
2. replaces the very ledger that was read: the batch's numbers, all of them new, are reserved
3. writes each number onto the very version that was read, again and again until it passed or never can
4. makes this visible, and replaces the very ledger that was written: the feed may be read up to here

Why nobody who wakes up late can number anything below what was read: whoever follows on a batch that is not closed
reads its documents anew. One that has a number by then has one below what is closed next. One that has none is written
again, so that the version which the late one expects is gone. Only then the feed may be read any further. As ids of one
batch alone can be written late, because the one before it was closed by the same hand, this holds for all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from intel.errors import InvalidQuery, StoreUnavailable, WritesRefused
from intel.query import AddedPage, AddedPosition, ChangePage, ChangePosition, ChangeQuery
from intel.records import CHANGES_PER_MILLISECOND, Change, ChangeEvent
from intel.store.elastic.bulk import Bulk, Write, expecting
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import CHANGE_MEMBERS, IOC_MEMBERS, Document, ioc_record, moment
from intel.store.elastic.index import Found, Index, as_found
from intel.store.elastic.queries import THERE, any_of, filtered
from intel.times import from_rfc3339, to_moment

LEDGER_ID = "changes"
_AT_ONCE = 1_000
_BATCHES_A_PAGE = 3
# Who asks while somebody else is at a batch waits so long for it.
_PATIENT_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 0.05
_MILLISECOND = timedelta(milliseconds=1)
EMPTY_LEDGER = {
    "holder": "",
    "until": 0,
    "number": 0,
    "closed": 0,
    "changed_at": "1970-01-01T00:00:00.000Z",
    "batch": [],
}
_UNNUMBERED = {"term": {"change_number": 0}}
_NEVER_NUMBERED = {"bool": {"must_not": [{"exists": {"field": "change_number"}}]}}
_OLDEST_CHANGE = [{"changed_at": {"order": "asc", "missing": "_first"}}, {"last_seen": "asc"}, {"id": "asc"}]
_TIMES = [*CHANGE_MEMBERS, "first_seen", "last_seen"]


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger as it was read."""

    found: Found

    @property
    def closed(self) -> int:
        return int(self.found.source["closed"])

    @property
    def number(self) -> int:
        return int(self.found.source["number"])

    @property
    def batch(self) -> list[str]:
        return list(self.found.source["batch"])

    @property
    def is_open(self) -> bool:
        return self.number > self.closed

    def is_left_to(self, other: str) -> bool:
        """Tell whether somebody else is at the batch."""
        source = self.found.source
        return self.is_open and source["holder"] != other and bool(source["until"] > _milliseconds())


class Changes:
    """Reads the feed, and numbers what changed."""

    def __init__(
        self, iocs: Index, leases: Index, bulk: Bulk, clock: Callable[[], datetime], held_seconds: float
    ) -> None:
        """`held_seconds`: for so long others leave a batch to who began it."""
        self._iocs = iocs
        self._leases = leases
        self._bulk = bulk
        self._clock = clock
        self._held_seconds = held_seconds
        self._holder = secrets.token_hex(8)
        self._turn = asyncio.Lock()
        # What a former version wrote has no number at all; to look for it costs time in proportion to the store.
        self._has_all = False

    async def page(self, query: ChangeQuery) -> ChangePage:
        """`intel.store.port.Iocs.changes`."""
        closed = await self._closed()
        if query.after.number > closed:
            raise InvalidQuery("after", "is no position in the changes of this store; leave it out to begin anew")
        hits = await self._read(query, closed)
        for _ in range(_BATCHES_A_PAGE):
            if len(hits) > query.limit:
                break
            try:
                has_more = await self._number()
            except WritesRefused:
                # What waits for its number comes once it can be written, after all that this page tells.
                return _page(query, hits, closed, has_more=False)
            except StoreUnavailable:
                if not hits:
                    raise
                break
            before, closed = closed, await self._closed()
            if closed > before:
                hits = await self._read(query, closed)
            if not has_more:
                return _page(query, hits, closed, has_more=False)
        return _page(query, hits, closed, has_more=True)

    async def position_at(self, time: datetime) -> ChangePosition:
        """`intel.store.port.Iocs.position_at`."""
        closed = await self._closed()
        until = moment(to_moment(time))
        before = await self._number_of({"range": {"changed_at": {"lt": until}}}, closed, "desc")
        # Changes that share a millisecond share the thousand of their numbers.
        beside = await self._number_of({"term": {"changed_at": until}}, closed, "asc")
        if beside:
            thousand = beside - beside % CHANGES_PER_MILLISECOND
            before = max(before, thousand + time.microsecond % CHANGES_PER_MILLISECOND)
        number = min(before, closed)
        return ChangePosition(number, number)

    async def of(self, ids: Sequence[str]) -> dict[str, Change]:
        """`intel.store.port.Iocs.changes_of`."""
        found = await self._iocs.get_many([*dict.fromkeys(ids)], source=[*IOC_MEMBERS, *CHANGE_MEMBERS])
        numbered = (one.source for one in found.values() if one.source.get("change_number"))
        changes = (_change(source, ChangePosition()) for source in numbered)
        return {change.id: change if change.ioc is None else replace(change, event="changed") for change in changes}

    async def _number_of(self, times: Document, closed: int, order: str) -> int:
        """Return the number of the first or last change in these times, 0 where there is none."""
        numbers = {"range": {"change_number": {"gt": 0, "lte": closed}}}
        asked = {
            "query": {"bool": {"filter": [numbers, times]}},
            "sort": [{"change_number": order}],
            "size": 1,
            "track_total_hits": False,
            "_source": ["change_number"],
        }
        hits = (await self._iocs.search(asked))["hits"]["hits"]
        return int(hits[0]["_source"]["change_number"]) if hits else 0

    async def newest(self) -> AddedPosition:
        """`intel.store.port.Iocs.newest`: whatever waits for its number gets it first, as far as writes pass."""
        with contextlib.suppress(WritesRefused):
            while await self._number():
                pass
        found = await self._leases.get(LEDGER_ID)
        source: Document = dict(EMPTY_LEDGER) if found is None else found.source
        return AddedPosition(int(source["closed"]), from_rfc3339(source["changed_at"]))

    async def added(self, after: AddedPosition, limit: int) -> AddedPage:
        """`intel.store.port.Iocs.added`."""
        closed = await self._closed()
        # What changed since waits for a new number, or has one: its first one tells.
        changed = any_of([{"range": {"change_number": {"gt": after.number}}}, _UNNUMBERED])
        asked = {
            "query": {"bool": {"filter": [changed, {"range": {"added_number": {"gt": after.number, "lte": closed}}}]}},
            "sort": [{"added_number": "asc"}],
            "size": limit + 1,
            "track_total_hits": False,
            "_source": False,
        }
        hits = (await self._iocs.search(asked, patience=Patience.LONG))["hits"]["hits"]
        ids = tuple(hit["_id"] for hit in hits[:limit])
        more = len(hits) > limit
        number = int(hits[limit - 1]["sort"][0]) if more else max(closed, after.number)
        return AddedPage(ids, AddedPosition(number, after.at), more)

    async def _read(self, query: ChangeQuery, closed: int) -> list[Document]:
        numbers = {"range": {"change_number": {"gt": query.after.number, "lte": closed}}}
        asked = {
            "query": {"bool": {"filter": [numbers, *_restrictions(query)]}},
            "sort": [{"change_number": "asc"}],
            "size": query.limit + 1,
            "track_total_hits": False,
            "_source": [*IOC_MEMBERS, *CHANGE_MEMBERS],
        }
        return [hit["_source"] for hit in (await self._iocs.search(asked))["hits"]["hits"]]

    async def _number(self) -> bool:
        """Number the next batch; False where all that was stored before this was asked has its number already."""
        async with self._turn:
            give_up = time.monotonic() + _PATIENT_SECONDS
            while (ledger := await self._ledger()).is_left_to(self._holder):
                if time.monotonic() > give_up:
                    return True
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            found = await self._without_number(ledger.batch)
            if found or ledger.is_open:
                await self._carry_out(ledger, found)
                return True
            # What was found without a number a moment ago may be in a batch by now that cannot be read yet.
            return (await self._ledger()).is_open

    async def _carry_out(self, ledger: Ledger, found: Sequence[Found]) -> None:
        at, writes = self._numbered(ledger, found)
        batch = {
            **ledger.found.source,
            "holder": self._holder,
            "until": _milliseconds() + int(self._held_seconds * 1_000),
            "number": ledger.number + len(writes),
            "changed_at": at,
            "batch": [one.id for one in found],
        }
        reserved = await self._leases.replace(ledger.found, batch)
        if reserved is None:
            return
        await self._bulk.settle(writes)
        await self._iocs.refresh()
        await self._leases.replace(reserved, {**batch, "closed": batch["number"], "batch": []})

    def _numbered(self, ledger: Ledger, found: Sequence[Found]) -> tuple[str, list[Write]]:
        """Return the time of the last change, and the writes that number these documents in the order of their
        changes.
        """
        now, at, writes = moment(self._clock()), ledger.found.source["changed_at"], []
        first = ledger.number + 1
        for number, one in enumerate(sorted(found, key=_order), start=first):
            if number == first or number % CHANGES_PER_MILLISECOND == 0:
                at = moment(from_rfc3339(at) + _MILLISECOND)
            at = max(at, one.source.get("changed_at") or min(one.source["last_seen"], now))
            writes.append(expecting("update", one, _numbering(one.source, number, at, now)))
        return at, writes

    async def _without_number(self, left: Sequence[str]) -> list[Found]:
        """Return what has no number: those that an earlier batch left, as they are now, and as many as fit beside
        them.
        """
        read = (await self._iocs.get_many(left, source=_TIMES, patience=Patience.LONG)).values()
        asked = {
            "query": _UNNUMBERED if self._has_all else any_of([_UNNUMBERED, _NEVER_NUMBERED]),
            "sort": _OLDEST_CHANGE,
            "size": max(0, _AT_ONCE - len(left)),
            "seq_no_primary_term": True,
            "track_total_hits": False,
            "_source": _TIMES,
        }
        hits = (await self._iocs.search(asked, patience=Patience.LONG))["hits"]["hits"]
        self._has_all = self._has_all or not (hits or left)
        others = [as_found(hit) for hit in hits if hit["_id"] not in set(left)]
        return [one for one in read if not one.source.get("change_number")] + others

    async def _closed(self) -> int:
        """Return up to where the feed may be read; writes nothing."""
        found = await self._leases.get(LEDGER_ID)
        return 0 if found is None else Ledger(found).closed

    async def _ledger(self) -> Ledger:
        while (found := await self._leases.get(LEDGER_ID)) is None:
            await self._leases.create(LEDGER_ID, dict(EMPTY_LEDGER))
        return Ledger(found)


def _order(one: Found) -> tuple[bool, str, str]:
    """Order by time and id; what a former version stored comes first."""
    changed_at = one.source.get("changed_at")
    return changed_at is not None, changed_at or one.source["last_seen"], one.id


def _numbering(source: Document, number: int, at: str, now: str) -> Document:
    """Return what a number changes of a document; with its first one it was added."""
    given: Document = {"change_number": number, "changed_at": at}
    if "removed" in source or "added_number" in source:
        return given
    added_at = source.get("added_at") or min(source["first_seen"], now)
    if added_at == source.get("changed_at"):
        added_at = at
    return given | {"added_number": number, "added_at": added_at}


def _restrictions(query: ChangeQuery) -> list[Document]:
    asked = filtered(query.filter)
    if not asked:
        return []
    removed: Document = {"exists": {"field": "removed.type"}}
    if query.filter.types:
        removed = {"terms": {"removed.type": query.filter.types}}
    return [any_of([{"bool": {"filter": [THERE, *asked]}}, removed])]


def _page(query: ChangeQuery, hits: Sequence[Document], closed: int, *, has_more: bool) -> ChangePage:
    page, after = hits[: query.limit], query.after
    items = tuple(_change(source, after) for source in page)
    if len(hits) > query.limit:
        return ChangePage(items, ChangePosition(page[-1]["change_number"], after.complete), True)
    return ChangePage(items, ChangePosition(closed, after.complete if has_more else closed), has_more)


def _change(source: Document, after: ChangePosition) -> Change:
    at, number = from_rfc3339(source["changed_at"]), source["change_number"]
    if removed := source.get("removed"):
        added_at = from_rfc3339(source["added_at"]) if "added_at" in source else None
        return Change("removed", at, removed["id"], removed["type"], removed["value"], None, number, added_at)
    ioc = ioc_record(source)
    event: ChangeEvent = "added" if source["added_number"] > after.complete else "changed"
    return Change(event, at, ioc.id, ioc.type, ioc.value, ioc, number, ioc.added_at)


def _milliseconds() -> int:
    return int(time.time() * 1_000)
