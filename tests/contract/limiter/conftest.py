from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.contract.limiter.redis_server import RedisServer
from tests.contract.limiter.worlds import MemoryWorld, RedisWorld, World


@pytest.fixture
def own_redis(redis_url: str, tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that the test may kill; left out where Redis is left out altogether."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest_asyncio.fixture(params=["memory", "redis"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    made: World = MemoryWorld() if request.param == "memory" else RedisWorld(request.getfixturevalue("redis_database"))
    yield made
    await made.close()
