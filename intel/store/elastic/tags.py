"""Tags: a member of each indicator's and each article's document, changed by compare-and-set.

An indicator's card is rendered with its tags, so that both are written together; a changed one waits for its number in
the change feed as any other change does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from intel.store.copying import Tagged
from intel.store.elastic.bulk import Bulk, Write, expecting
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import Document, annotated_at, is_there, moment, with_tags
from intel.store.elastic.index import Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.saving import is_complete
from intel.store.tags import TaggedKind
from intel.tags import changed


class ElasticTags:
    """`intel.store.tags.Tags`."""

    def __init__(self, iocs: Index, articles: Index, bulk: Bulk, clock: Callable[[], datetime]) -> None:
        self._iocs = iocs
        self._articles = articles
        self._bulk = bulk
        self._clock = clock

    async def change(
        self, kind: TaggedKind, id: str, add: Sequence[str], remove: Sequence[str] = ()
    ) -> tuple[str, ...] | None:
        if kind == "ioc":
            after = await self._change_ioc(id, add, remove)
            await self._iocs.refresh()
        else:
            after = await self._change_article(id, add, remove)
            await self._articles.refresh()
        return after

    @retried()
    async def _change_ioc(self, id: str, add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...] | None:
        found = await self._iocs.get(id)
        if found is None or not is_there(found.source):
            return None
        before = tuple(found.source.get("tags", ()))
        after = changed(before, add, remove)
        if after != before:
            # What a former version stored is numbered as added when it was first seen.
            added_at = found.source.get("added_at") or found.source["first_seen"]
            waiting = {"added_at": added_at, "changed_at": moment(self._clock()), "change_number": 0}
            if not all(await self._bulk.try_all([expecting("update", found, _tagged(found.source, after) | waiting)])):
                raise TryAgain
        return after

    @retried()
    async def _change_article(self, id: str, add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...] | None:
        found = await self._articles.get(id)
        if found is None or not is_complete(found.source):
            return None
        before = tuple(found.source.get("tags", ()))
        after = changed(before, add, remove)
        if after != before:
            document = {**found.source, "tags": after, "annotated_at": annotated_at(found.source, self._clock())}
            if await self._articles.replace(found, document) is None:
                raise TryAgain
        return after

    async def put(self, records: Sequence[Tagged]) -> None:
        """Write the tags of records that are stored, without a change in the feed; nobody else writes meanwhile."""
        tags = {one.id: one.tags for one in records if one.kind == "ioc"}
        iocs = await self._iocs.get_many([*tags], patience=Patience.LONG)
        writes = [
            Write("update", self._iocs.name, id, _tagged(one.source, tags[id]))
            for id, one in iocs.items()
            if is_there(one.source)
        ]
        tags = {one.id: one.tags for one in records if one.kind == "article"}
        articles = await self._articles.get_many([*tags], source=["seen_at"], patience=Patience.LONG)
        writes += [
            Write("update", self._articles.name, id, {"tags": tags[id]})
            for id, one in articles.items()
            if is_complete(one.source)
        ]
        await self._bulk.write_all(writes)


def _tagged(ioc: Document, tags: Sequence[str]) -> Document:
    """Return what tags change of an indicator's document."""
    document = with_tags(ioc, tags)
    return {"tags": document["tags"], "card": document["card"]}
