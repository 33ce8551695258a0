from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_httpserver import HTTPServer

from tests.end_to_end.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    with HTTPServer("127.0.0.1", threaded=True) as server:
        made = Site(server)
        yield made
        made.gate.set()
