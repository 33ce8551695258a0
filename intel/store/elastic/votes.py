"""Votes: a document for each indicator with all of its votes, read by id and changed by compare-and-set.

The indicator's own document holds their number, for its card. Who votes first takes the number out, so that readers ask
the votes, and puts it in again when the vote is stored: whoever is killed between these leaves no wrong number behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from intel.records import Vote
from intel.store.elastic.bulk import Bulk, expecting
from intel.store.elastic.documents import Document, is_there, moment
from intel.store.elastic.index import Found, Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.times import from_rfc3339

_MOST_VOTES = 1_000


class ElasticVotes:
    """`intel.store.port.Votes`."""

    def __init__(self, votes: Index, iocs: Index, bulk: Bulk) -> None:
        self._votes = votes
        self._iocs = iocs
        self._bulk = bulk
        # Two votes on one indicator at a time would only make each other start again.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def put(self, vote: Vote) -> None:
        async with self._turn(vote.ioc_id):
            await self._note(vote.ioc_id, counted=False)
            await self._put(vote)
            await self._note(vote.ioc_id, counted=True)

    async def withdraw(self, ioc_id: str, account_id: str) -> bool:
        async with self._turn(ioc_id):
            await self._note(ioc_id, counted=False)
            was_there = await self._withdraw(ioc_id, account_id)
            await self._note(ioc_id, counted=True)
        return was_there

    @retried()
    async def _note(self, ioc_id: str, *, counted: bool) -> None:
        """Write into the indicator how many votes there are, or that they have to be counted."""
        found = await self._iocs.get(ioc_id, ["first_seen"])
        if found is None or not is_there(found.source):
            return
        number = (await self.counts([ioc_id])).get(ioc_id, 0) if counted else None
        noted: Document = {"false_positives": number} | ({} if number is None else {"voted": number > 0})
        if not all(await self._bulk.try_all([expecting("update", found, noted)])):
            raise TryAgain
        await self._iocs.refresh()

    async def counts(self, ioc_ids: Sequence[str]) -> dict[str, int]:
        found = await self._votes.get_many(ioc_ids, source=["count"])
        return {id: one.source["count"] for id, one in found.items() if one.source["count"]}

    async def of(self, ioc_id: str) -> tuple[Vote, ...]:
        votes = _votes_in(await self._votes.get(ioc_id))
        found = [Vote(ioc_id, id, said["note"], from_rfc3339(said["voted_at"])) for id, said in votes.items()]
        return tuple(sorted(found, key=lambda vote: (vote.voted_at, vote.account_id))[:_MOST_VOTES])

    async def forget_vanished(self, ioc_ids: Sequence[str]) -> None:
        """Delete the votes on those of the given indicators that are stored no more."""
        found = await self._iocs.get_many(ioc_ids, source=["first_seen"])
        left = {id for id, one in found.items() if is_there(one.source)}
        voted = await self._votes.get_many([id for id in ioc_ids if id not in left], source=False)
        for one in voted.values():
            await self._votes.delete(one)

    def _turn(self, ioc_id: str) -> asyncio.Lock:
        return self._turns.setdefault(ioc_id, asyncio.Lock())

    @retried()
    async def _put(self, vote: Vote) -> None:
        said = {"note": vote.note, "voted_at": moment(vote.voted_at)}
        found = await self._votes.get(vote.ioc_id)
        await self._write(vote.ioc_id, found, {**_votes_in(found), vote.account_id: said})

    @retried()
    async def _withdraw(self, ioc_id: str, account_id: str) -> bool:
        found = await self._votes.get(ioc_id)
        votes = _votes_in(found)
        if account_id not in votes:
            return False
        await self._write(ioc_id, found, {id: said for id, said in votes.items() if id != account_id})
        return True

    async def _write(self, ioc_id: str, found: Found | None, votes: Document) -> None:
        document = {"count": len(votes), "votes": votes}
        if found is None:
            written = await self._votes.create(ioc_id, document)
        else:
            written = await self._votes.replace(found, document)
        if written is None:
            raise TryAgain


def _votes_in(found: Found | None) -> Document:
    return {} if found is None else found.source["votes"]
