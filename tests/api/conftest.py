from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from api.limits.memory import MemoryLimiter
from tests.api.running import GENEROUS, Running, running
from tests.one_fork_server import one_fork_server


@pytest.fixture(scope="package", autouse=True)
def readers() -> Iterator[None]:
    """What all services of these tests fork their readers from."""
    with one_fork_server():
        yield


@pytest_asyncio.fixture
async def api(tmp_path: Path) -> AsyncIterator[Running]:
    """The embedded service, empty, with limits that no test meets by chance."""
    async with running(tmp_path, **GENEROUS) as started:
        yield started


@pytest_asyncio.fixture
async def key(api: Running) -> dict[str, str]:
    """The header of an account's key."""
    return await api.key()


@pytest_asyncio.fixture
async def limited_api(tmp_path: Path) -> AsyncIterator[Running]:
    """The embedded service, empty, with every default; its buckets do not fill while a busy machine takes its time."""
    async with running(tmp_path) as started:
        limiter, now = started.service.limiter, time.monotonic()
        assert isinstance(limiter, MemoryLimiter)
        limiter._clock = lambda: now
        yield started
