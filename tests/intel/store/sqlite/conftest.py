from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from intel.store.sqlite.connection import Database
from intel.store.sqlite.store import SqliteStore
from tests.stores import lay_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store.db"


@pytest_asyncio.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(lay_store(path))
    await store.setup()
    yield store
    await store.close()


@pytest_asyncio.fixture
async def database(path: Path, store: SqliteStore) -> AsyncIterator[Database]:
    """The file of `store`, opened beside it."""
    database = Database(path)
    yield database
    await database.close()
