"""Removing an article: it vanishes first, then its sightings and what was counted from them, its document last.

Who removes an article holds it as savers do (see `saving`): a mark takes the place of all that the document said, so
that no reader meets the article any more, and names what has to be counted anew. Whoever finds a removal that was cut
short, another removal, a saver or the sweep, goes on from that mark.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import Any

from intel.store.elastic.bulk import Write
from intel.store.elastic.documents import sighting_id
from intel.store.elastic.index import Found
from intel.store.elastic.notes import ElasticNotes
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.readings import ElasticReadings
from intel.store.elastic.saving import Saving
from intel.store.elastic.submissions import ElasticSubmissions
from intel.store.elastic.votes import ElasticVotes
from intel.store.elastic.weeks import ElasticWeeks
from intel.store.taking_back import could_be_told_since
from intel.times import from_rfc3339

_REMOVE_SECONDS = 300.0
# So many are counted anew before the mark is renewed: fewer than take as long as it holds.
_RECOUNTED_AT_ONCE = 1_000
_MOST_FINISHED = 100


@dataclass(frozen=True, slots=True)
class Removing:
    """The parts of the store that an article is taken out of."""

    saving: Saving
    readings: ElasticReadings
    submissions: ElasticSubmissions
    votes: ElasticVotes
    notes: ElasticNotes
    weeks: ElasticWeeks

    async def remove(self, id: str, *, expired: bool = False) -> bool:
        """`intel.store.port.Articles.remove`."""
        remover, was_there = secrets.token_hex(8), False

        @retried(_REMOVE_SECONDS)
        async def attempt() -> None:
            nonlocal was_there
            found = await self.saving.articles.get(id)
            if found is None:
                return
            was_there = True
            held = await self._take_apart(await self._hold(found, remover, expired))
            if not await self.saving.articles.delete(held):
                raise TryAgain

        await attempt()
        await asyncio.gather(self.saving.iocs.refresh(), self.saving.articles.refresh())
        return was_there

    async def finish(self) -> None:
        """`intel.store.port.Articles.finish_removals`."""
        query = {
            "query": {"bool": {"must_not": [{"exists": {"field": "seen_at"}}]}},
            "size": _MOST_FINISHED,
            "_source": ["saving"],
            "track_total_hits": False,
        }
        answer = await self.saving.articles.search(query)
        for hit in answer["hits"]["hits"]:
            mark = hit["_source"]["saving"]
            if mark.get("removing") and mark["until"] < time.time():
                await self.remove(hit["_id"])

    async def _hold(self, found: Found, remover: str, expired: bool) -> Found:
        """Put a mark that names everything to count anew in place of an article that nobody else holds."""
        before = found.source.get("saving") or {"saver": remover, "until": 0, "iocs": [], "clusters": []}
        if before["saver"] != remover and before["until"] > time.time():
            raise TryAgain
        iocs = {*before["iocs"], *await self.saving.sighted_in(found.id)}
        clusters = {*before["clusters"], *([found.source["cluster_id"]] if "cluster_id" in found.source else ())}
        mark = self.saving.mark(remover, sorted(iocs), sorted(clusters)) | {"removing": True}
        # Without this no week is taken back, whoever ends the removal.
        mark["fetched_at"] = None if expired else found.source.get("fetched_at") or before.get("fetched_at")
        return await self._put(found, mark)

    async def _put(self, found: Found, mark: dict[str, Any]) -> Found:
        held = await self.saving.articles.replace(found, {"id": found.id, "saving": mark})
        if held is None:
            raise TryAgain
        return held

    async def _take_apart(self, held: Found) -> Found:
        """Take out what belongs to the article; return its document as it stands in the end, to be deleted."""
        saving, mark = self.saving, held.source["saving"]
        gone: list[str] = mark["iocs"]
        await saving.bulk.write_all(Write("delete", saving.sightings.name, sighting_id(ioc, held.id)) for ioc in gone)
        await saving.sightings.refresh()
        copied = await self._recount_clusters(held)
        touched = sorted({*gone, *copied})
        for start in range(0, len(touched), _RECOUNTED_AT_ONCE):
            await saving.recount.recount(touched[start : start + _RECOUNTED_AT_ONCE])
            held = await self._put(held, mark | {"until": time.time() + saving.held_seconds})
        await self.votes.forget_vanished(gone)
        await self.notes.forget_vanished(gone)
        await self.notes.forget([held.id])
        await self.readings.forget(held.id)
        if mark["fetched_at"] is not None:
            await self.weeks.take_back(could_be_told_since(from_rfc3339(mark["fetched_at"])))
        await saving.addresses.forget(held.id)
        await self.submissions.detach(held.id)
        return held

    async def _recount_clusters(self, held: Found) -> set[str]:
        """Settle the clusters without the article; return the indicators of copies that may count otherwise now.

        All of a cluster's, for a removal that was cut short may have let copies count for another source already.
        """
        changed: set[str] = set()
        for cluster_id in held.source["saving"]["clusters"]:
            await self.saving.clusters.settle(cluster_id, held.id, None)
            await self.saving.clusters.recount_copies(cluster_id)
            changed |= await self.saving.clusters.iocs_of(cluster_id)
        return changed
