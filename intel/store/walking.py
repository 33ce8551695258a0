"""Walks from page to page of the store, holding one page at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from intel.query import Page, Position
from intel.records import Ioc
from intel.store.port import Articles

_PAGE = 1_000


async def pages_of(
    articles: Articles, id: str, size: int, most: int | None = None, after: Position | None = None
) -> AsyncGenerator[Page[Ioc], None]:
    """Yield an article's indicators from `after` on in pages of `size`, all of them or the first `most`."""
    left = most
    while left is None or left > 0:
        limit = size if left is None else min(size, left)
        page = await articles.iocs_of(id, limit, after)
        yield page
        if page.next is None:
            return
        after = page.next
        left = None if left is None else left - limit


async def iocs_of(articles: Articles, id: str) -> AsyncIterator[Ioc]:
    """Yield every indicator of an article, in order of first appearance."""
    async for page in pages_of(articles, id, _PAGE):
        for ioc in page.items:
            yield ioc
