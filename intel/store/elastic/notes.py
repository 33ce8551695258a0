"""Notes on indicators and articles: a document for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

from intel.notes import Note, check_room
from intel.store.elastic.bulk import Bulk, Write, expecting
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import from_document, is_there, moment, to_document
from intel.store.elastic.index import Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.saving import is_complete
from intel.store.tags import TaggedKind

_AT_ONCE = 1_000
_SORT = ({"written_at": "asc"}, {"id": "asc"})


class ElasticNotes:
    """`intel.store.notes.Notes`."""

    def __init__(self, notes: Index, iocs: Index, articles: Index, bulk: Bulk, clock: Callable[[], datetime]) -> None:
        self._notes = notes
        self._iocs = iocs
        self._articles = articles
        self._bulk = bulk
        self._clock = clock

    async def add(self, note: Note) -> bool:
        if not await self._is_stored(note.kind, note.record_id):
            return False
        check_room(len((await self.of([note.record_id])).get(note.record_id, ())))
        await self._notes.create(note.id, to_document(note))
        if await self._tell(note.kind, note.record_id):
            return True
        # It was removed meanwhile.
        await self.forget([note.record_id])
        return False

    async def remove(self, kind: TaggedKind, record_id: str, id: str) -> bool:
        if not await self._delete(kind, record_id, id):
            return False
        await self._tell(kind, record_id)
        return True

    async def of(self, record_ids: Sequence[str]) -> dict[str, tuple[Note, ...]]:
        await self._notes.refresh(Patience.REFRESH)
        found: defaultdict[str, list[Note]] = defaultdict(list)
        query = {"query": {"terms": {"record_id": list(dict.fromkeys(record_ids))}}}
        for hit in await self._notes.hits(query, _SORT):
            note = from_document(Note, hit["_source"])
            found[note.record_id].append(note)
        return {id: tuple(found[id]) for id in dict.fromkeys(record_ids) if id in found}

    async def forget(self, record_ids: Sequence[str]) -> None:
        """Delete all notes on records that are gone."""
        await self._notes.refresh()
        for start in range(0, len(record_ids), _AT_ONCE):
            found = await self.of(record_ids[start : start + _AT_ONCE])
            notes = (note for some in found.values() for note in some)
            await self._bulk.write_all(Write("delete", self._notes.name, note.id) for note in notes)

    async def forget_vanished(self, ioc_ids: Sequence[str]) -> None:
        """Delete the notes on those of the given indicators that are stored no more."""
        await self._notes.refresh()
        for start in range(0, len(ioc_ids), _AT_ONCE):
            noted = [*await self.of(ioc_ids[start : start + _AT_ONCE])]
            found = await self._iocs.get_many(noted, source=["first_seen"])
            await self.forget([id for id in noted if id not in found or not is_there(found[id].source)])

    async def _is_stored(self, kind: TaggedKind, id: str) -> bool:
        found = await (self._iocs if kind == "ioc" else self._articles).get(id, ["first_seen", "seen_at"])
        return found is not None and (is_there if kind == "ioc" else is_complete)(found.source)

    @retried()
    async def _delete(self, kind: TaggedKind, record_id: str, id: str) -> bool:
        found = await self._notes.get(id)
        if found is None or (found.source["kind"], found.source["record_id"]) != (kind, record_id):
            return False
        if await self._notes.delete(found):
            return True
        raise TryAgain

    @retried()
    async def _tell(self, kind: TaggedKind, id: str) -> bool:
        """Have an indicator wait for a new number in the change feed; False where the record is gone."""
        if kind == "article":
            return await self._is_stored(kind, id)
        found = await self._iocs.get(id, ["first_seen", "added_at"])
        if found is None or not is_there(found.source):
            return False
        # What a former version stored is numbered as added when it was first seen.
        added_at = found.source.get("added_at") or found.source["first_seen"]
        waiting = {"added_at": added_at, "changed_at": moment(self._clock()), "change_number": 0}
        if not all(await self._bulk.try_all([expecting("update", found, waiting)])):
            raise TryAgain
        await self._iocs.refresh()
        return True
