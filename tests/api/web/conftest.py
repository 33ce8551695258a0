from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.api.running import Running
from tests.api.web.reading import Reader, reading


@pytest_asyncio.fixture
async def visitor(api: Running) -> AsyncIterator[Reader]:
    """Somebody without an account."""
    async with reading(api.app) as reader:
        yield reader


@pytest_asyncio.fixture
async def limited_member(limited_api: Running) -> AsyncIterator[Reader]:
    """Somebody who has just signed up where every limit is the default."""
    async with reading(limited_api.app, "198.51.100.8") as reader:
        await reader.sign_up()
        yield reader


@pytest_asyncio.fixture
async def member(api: Running) -> AsyncIterator[Reader]:
    """Somebody who has just signed up."""
    async with reading(api.app, "198.51.100.8") as reader:
        await reader.sign_up()
        yield reader
