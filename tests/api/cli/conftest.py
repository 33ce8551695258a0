from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.processes import Installation, installed


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    """The installed command, on an empty data folder."""
    yield from installed(tmp_path, {})
