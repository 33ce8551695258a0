from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from ingest.queue.port import ReadSubmission
from intel.store import Store
from intel.store.sqlite.store import SqliteStore
from tests.contract.limiter.redis_server import RedisServer
from tests.contract.queue.worlds import EmbeddedWorld, RedisWorld, World

Begin = Callable[[ReadSubmission], World]


@pytest_asyncio.fixture(params=["embedded", "redis"])
async def begin(request: pytest.FixtureRequest) -> AsyncIterator[Begin]:
    """Starts a queue that hands submissions to the given reader; everything started is stopped in the end."""
    address = request.getfixturevalue("redis_database") if request.param == "redis" else None
    started: list[World] = []

    def start(read: ReadSubmission) -> World:
        started.append(EmbeddedWorld(read) if address is None else RedisWorld(address, read))
        return started[-1]

    yield start
    for world in started:
        await world.stop()


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = SqliteStore(tmp_path / "store.db")
    await opened.setup()
    yield opened
    await opened.close()


@pytest.fixture
def own_redis(redis_url: str, tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that the test may kill; left out where Redis is left out altogether."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()
