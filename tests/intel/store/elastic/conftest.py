"""Stores on the real server: directly, and over a wire that can break."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from intel.settings import ElasticsearchSettings
from intel.store.elastic.store import ElasticStore
from tests.intel.store.elastic.wire import Wire, wire_to


def store_at(url: str, prefix: str) -> ElasticStore:
    """A store whose articles are open again at once after a saver was cut short, and whose outages end at once."""
    return ElasticStore(ElasticsearchSettings(nodes=(url,), index_prefix=prefix), held_seconds=0, steady_seconds=0)


@pytest_asyncio.fixture
async def store(elasticsearch_url: str, index_prefix: str) -> AsyncIterator[ElasticStore]:
    """A store on lent indices, which are set up."""
    store = store_at(elasticsearch_url, index_prefix)
    yield store
    await store.close()


@pytest_asyncio.fixture
async def wire(elasticsearch_url: str) -> AsyncIterator[Wire]:
    async with wire_to(elasticsearch_url) as wire:
        yield wire


@pytest_asyncio.fixture
async def wired_store(store: ElasticStore, wire: Wire, index_prefix: str) -> AsyncIterator[ElasticStore]:
    """Another store on the same indices, over the wire."""
    wired = store_at(wire.url, index_prefix)
    yield wired
    await wired.close()
