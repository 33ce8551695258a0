from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from ingest.queue.port import ReadSubmission
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
