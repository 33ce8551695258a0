from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.api.running import GENEROUS, Running, running


@pytest_asyncio.fixture
async def api(tmp_path: Path) -> AsyncIterator[Running]:
    """The embedded service, empty, with limits that no test meets by chance."""
    async with running(tmp_path, **GENEROUS) as started:
        yield started


@pytest_asyncio.fixture
async def limited_api(tmp_path: Path) -> AsyncIterator[Running]:
    """The embedded service, empty, with every default."""
    async with running(tmp_path) as started:
        yield started
