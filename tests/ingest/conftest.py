"""A store of each engine for what must come out the same on both, and a web of pages on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from ingest import copies
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
async def stores(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Store, Store]]:
    """Two processes' view of one store. None is killed, so each waits for the other as long as a busy machine takes."""
    monkeypatch.setattr(copies, "_CLAIMING_SECONDS", 60.0)
    async with AsyncExitStack() as closing:
        opened = (open_store(), open_store())
        for store in opened:
            closing.push_async_callback(store.close)
            if isinstance(store, SqliteStore):  # indices are lent set up
                await store.setup()
        yield opened


@pytest_asyncio.fixture
async def web() -> AsyncIterator[Web]:
    async with open_web() as web:
        yield web
