from __future__ import annotations

from tests.spec.plugin import pytest_configure

__all__ = ["pytest_configure"]
