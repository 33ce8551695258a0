"""Walks from page to page of the store, holding one page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator

from intel.records import Ioc
from intel.store.port import Articles

PAGE = 1_000


async def iocs_of(articles: Articles, id: str) -> AsyncIterator[Ioc]:
    """Yield every indicator of an article, in order of first appearance."""
    page = await articles.iocs_of(id, PAGE)
    while True:
        for ioc in page.items:
            yield ioc
        if page.next is None:
            return
        page = await articles.iocs_of(id, PAGE, page.next)
