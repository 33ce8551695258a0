from __future__ import annotations

import pytest

from tests.api.running import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()
