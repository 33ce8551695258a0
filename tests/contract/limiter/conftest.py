from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.contract.limiter.worlds import MemoryWorld, RedisWorld, SharedWorld, World


@pytest_asyncio.fixture(params=["memory", "shared", "redis"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    made: World
    if request.param == "redis":
        made = RedisWorld(request.getfixturevalue("redis_database"))
    else:
        made = MemoryWorld() if request.param == "memory" else SharedWorld()
    yield made
    await made.close()
