"""A store of each engine for what must come out the same on both, and a web of pages on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from intel.settings import ElasticsearchSettings
from intel.store import Store
from intel.store.elastic.store import ElasticStore
from intel.store.sqlite.store import SqliteStore
from tests.ingest.fetch.web import Web, open_web
from tests.stores import lay_store

Open = Callable[[], Store]


@pytest.fixture(params=["sqlite", "elasticsearch"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens a store that was empty, each time on the same data."""
    if request.param == "sqlite":
        return lambda: SqliteStore(lay_store(tmp_path / "store.db"))
    url, prefix = request.getfixturevalue("elasticsearch_url"), request.getfixturevalue("index_prefix")
    return lambda: ElasticStore(ElasticsearchSettings(nodes=(url,), index_prefix=prefix))


@pytest_asyncio.fixture
async def stores(open_store: Open) -> AsyncIterator[tuple[Store, Store]]:
    """Two processes' view of one store."""
    async with AsyncExitStack() as closing:
        opened = (open_store(), open_store())
        for store in opened:
            closing.push_async_callback(store.close)
            await store.setup()
        yield opened


@pytest_asyncio.fixture
async def web() -> AsyncIterator[Web]:
    async with open_web() as web:
        yield web
