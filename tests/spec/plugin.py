"""Makes the marker known by which a test names the promise of the contract that it holds the service to."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "promise(*ids): the promises of the contract that this test checks")
