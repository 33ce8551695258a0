from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from intel.store import Store
from intel.store.sqlite.store import SqliteStore
from tests.api.running import Clock


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = SqliteStore(tmp_path / "store.db")
    await opened.setup()
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()
