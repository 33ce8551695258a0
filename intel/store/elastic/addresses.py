"""Addresses: a document for each leads to the article that claimed it first and names those that did so after it.

When that article is removed, the address leads to the next claimant. An address whose article is gone is free, so that
whatever a removal that met a save left behind is mended by the next article that claims it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

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

    async def ids_of(self, addresses: Sequence[str]) -> dict[str, str]:
        """Return the ids of the articles that addresses lead to, by address."""
        wanted = {address_id(address): address for address in addresses}
        found = await self._addresses.get_many(list(wanted), source=["article_id"])
        return {wanted[id]: str(one.source["article_id"]) for id, one in found.items()}

    @retried()
    async def claim(self, claims: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Lead addresses to articles, each (article id, its addresses) in their order.

        An address that leads to another article notes this one as a claimant.
        """
        addresses = {address_id(address): address for _, claimed in claims for address in claimed}
        known = await self._addresses.get_many(list(addresses))
        claimed_by = {article_id for article_id, _ in claims}
        gone = await self._gone({str(found.source["article_id"]) for found in known.values()} - claimed_by)
        documents = {id: found.source for id, found in known.items()}
        for article_id, claimed in claims:
            for id in map(address_id, claimed):
                documents[id] = _claimed(addresses[id], article_id, documents.get(id), gone)
        writes = [
            Write("create", self._addresses.name, id, document)
            if id not in known
            else expecting("index", known[id], document)
            for id, document in documents.items()
            if id not in known or document is not known[id].source
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


def _claimed(address: str, article_id: str, before: Document | None, gone: set[str]) -> Document:
    """Return the document of an address as it is once an article claimed it; `before` itself where nothing changes."""
    if before is None:
        return address_document(address, article_id, [])
    leader, others = str(before["article_id"]), _others(before)
    if leader in gone:
        heirs = list(dict.fromkeys([*others, article_id]))
        return address_document(address, heirs[0], heirs[1:])
    if article_id in (leader, *others) or len(others) >= _MOST_OTHERS:
        return before
    return address_document(address, leader, [*others, article_id])


def _without(found: Found, article_id: str) -> Write:
    left = [one for one in (str(found.source["article_id"]), *_others(found.source)) if one != article_id]
    if not left:
        return expecting("delete", found)
    return expecting("index", found, address_document(found.source["address"], left[0], left[1:]))


def _others(document: Document) -> list[str]:
    return list(document.get("others") or ())


def address_document(address: str, article_id: str, others: list[str]) -> Document:
    """Return the document of an address, which leads to one article and was claimed by others since."""
    return {"address": address, "article_id": article_id, "others": others}


def address_id(address: str) -> str:
    """Return the id of the document of an address, which may itself be longer than an id can be."""
    return hashlib.sha256(address.encode()).hexdigest()
