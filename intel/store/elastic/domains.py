"""Blocked domains: a document for each, read by id, so that a block holds at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from intel.store.elastic.documents import moment
from intel.store.elastic.index import Index
from intel.times import from_rfc3339


class ElasticDomains:
    """`intel.store.port.Domains`."""

    def __init__(self, domains: Index) -> None:
        self._domains = domains

    async def block(self, domain: str, now: datetime) -> bool:
        return await self._domains.create(domain, {"domain": domain, "blocked_at": moment(now)}) is not None

    async def unblock(self, domain: str) -> bool:
        found = await self._domains.get(domain)
        return found is not None and await self._domains.delete(found)

    async def blocked(self) -> dict[str, datetime]:
        await self._domains.refresh()
        pages = self._domains.pages({}, [{"domain": "asc"}])
        return {
            hit["_source"]["domain"]: from_rfc3339(hit["_source"]["blocked_at"]) async for page in pages for hit in page
        }

    async def any_blocked(self, domains: Sequence[str]) -> bool:
        return bool(await self._domains.get_many(domains, source=False))
