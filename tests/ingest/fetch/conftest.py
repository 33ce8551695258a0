from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.ingest.fetch.web import Web, open_web


@pytest_asyncio.fixture
async def web() -> AsyncIterator[Web]:
    async with open_web() as web:
        yield web
