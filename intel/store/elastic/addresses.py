"""Addresses: a document for each leads to the article that claimed it first and names those that did so after it.

When that article is removed, the address leads to the next claimant. An address whose article is gone is free, so that
whatever a removal that met a save left behind is mended by the next article that claims it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from intel.store.elastic.bulk import Bulk, Write, expecting
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import Document
from intel.store.elastic.index import Found, Index, as_found
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import any_of, term

# A document would grow without bound where very many articles claim one address.
_MOST_OTHERS = 100
_AT_ONCE = 1_000


class Addresses:
    """Which article each address leads to."""

    def __init__(self, addresses: Index, articles: Index, bulk: Bulk) -> None:
        self._addresses = addresses
        self._articles = articles
        self._bulk = bulk

    async def id_of(self, address: str) -> str | None:
        """Return the id of the article that an address leads to."""
        found = await self._addresses.get(_document_id(address))
        return None if found is None else str(found.source["article_id"])

    @retried()
    async def claim(self, article_id: str, addresses: Sequence[str]) -> None:
        """Lead these addresses, in their order, to an article; those that lead to another one note it as a claimant."""
        wanted = {_document_id(address): address for address in addresses}
        known = await self._addresses.get_many(list(wanted))
        gone = await self._gone({str(found.source["article_id"]) for found in known.values()} - {article_id})
        writes = [
            write for id, address in wanted.items() if (write := self._claim(id, address, article_id, known, gone))
        ]
        if not all(await self._bulk.try_all(writes)):
            raise TryAgain

    @retried()
    async def forget(self, article_id: str) -> None:
        """Lead the addresses of an article to the next that claimed them; delete those that nobody else claimed."""
        await self._addresses.refresh()
        named = any_of([term("article_id", article_id), term("others", article_id)])
        query = {"query": named, "size": _AT_ONCE, "seq_no_primary_term": True, "track_total_hits": False}
        answer = await self._addresses.search(query, patience=Patience.LONG)
        found = [as_found(hit) for hit in answer["hits"]["hits"]]
        if found:
            await self._bulk.try_all([_without(one, article_id) for one in found])
            raise TryAgain

    async def _gone(self, article_ids: set[str]) -> set[str]:
        return article_ids - (await self._articles.get_many(sorted(article_ids), source=False)).keys()

    def _claim(
        self, id: str, address: str, article_id: str, known: Mapping[str, Found], gone: set[str]
    ) -> Write | None:
        found = known.get(id)
        if found is None:
            return Write("create", self._addresses.name, id, _document(address, article_id, []))
        leader, others = str(found.source["article_id"]), _others(found)
        if leader in gone:
            heirs = list(dict.fromkeys([*others, article_id]))
            return expecting("index", found, _document(address, heirs[0], heirs[1:]))
        if article_id in (leader, *others) or len(others) >= _MOST_OTHERS:
            return None
        return expecting("index", found, _document(address, leader, [*others, article_id]))


def _without(found: Found, article_id: str) -> Write:
    left = [one for one in (str(found.source["article_id"]), *_others(found)) if one != article_id]
    if not left:
        return expecting("delete", found)
    return expecting("index", found, _document(found.source["address"], left[0], left[1:]))


def _others(found: Found) -> list[str]:
    return list(found.source.get("others") or ())


def _document(address: str, article_id: str, others: list[str]) -> Document:
    return {"address": address, "article_id": article_id, "others": others}


def _document_id(address: str) -> str:
    """Return the id of the document of an address, which may itself be longer than an id can be."""
    return hashlib.sha256(address.encode()).hexdigest()
