"""What the first pages are made of is compiled before they are asked for."""

from __future__ import annotations

import pytest
from jinja2 import Environment

from api.web.rendering import FIRST_PAGES, Templates


def test_the_first_pages_are_compiled_once_for_all_applications(monkeypatch: pytest.MonkeyPatch) -> None:
    Templates({}).compile(FIRST_PAGES)
    monkeypatch.setattr(Environment, "_generate", None)
    Templates({}).compile(FIRST_PAGES)
