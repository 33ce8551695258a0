from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp_server.stand_in import StandIn, running_stand_in


@pytest.fixture
def service() -> Iterator[StandIn]:
    with running_stand_in() as stand_in:
        yield stand_in
