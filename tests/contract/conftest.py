from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.limiter.redis_server import RedisServer


@pytest.fixture
def own_redis(redis_url: str, tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that the test may kill; left out where Redis is left out altogether."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()
