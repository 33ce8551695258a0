"""The way of an article: fetch -> read -> save, each given from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from ingest.fetch import FetchedPage
from ingest.reading import Page, ReadPage
from intel.canonical import canonical_url
from intel.records import Article
from intel.store import Store

Fetch = Callable[[str], Awaitable[FetchedPage]]
Read = Callable[[Page], Awaitable[ReadPage]]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Takes articles in. Every method raises IngestFailed with its reason, or StoreUnavailable."""

    fetch: Fetch
    read: Read
    store: Store
    clock: Callable[[], datetime]

    async def take_url(self, url: str, source_name: str) -> Article:
        """Fetches, reads and saves the article at an address that was submitted."""
        fetched = await self.fetch(url)
        page = Page(
            body=fetched.body,
            content_type=fetched.content_type,
            charset=fetched.charset,
            url=fetched.final_url,
            source_name=source_name,
            fetched_at=self.clock(),
        )
        return await self._save(await self.read(page), url)

    async def take_file(self, body: bytes, content_type: str, source_name: str | None) -> Article:
        """Reads and saves an article from a file; its identity is its content."""
        page = Page(body, content_type, None, None, source_name, self.clock())
        return await self._save(await self.read(page), None)

    async def take_read(self, found: ReadPage, *addresses: str) -> Article:
        """Saves an article that was read from a file; `addresses` lead to it from now on."""
        return await self._save(replace(found, addresses=(*found.addresses, *addresses)), None)

    async def _save(self, found: ReadPage, submitted_url: str | None) -> Article:
        addresses = set(found.addresses)
        if submitted_url:
            addresses.add(canonical_url(submitted_url))
        known = await self.store.articles.get(found.article.id)
        return await self.store.articles.save(_as_first_seen(found.article, known), found.sightings, sorted(addresses))


def _as_first_seen(article: Article, known: Article | None) -> Article:
    """Reading an article again, by another worker or in another's name, changes neither its source nor its time."""
    if known is None:
        return article
    return replace(article, source_name=known.source_name, fetched_at=known.fetched_at)
