"""What the first pages are made of is compiled before they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment

from api.web.rendering import FIRST_PAGES, Templates, _Compiled
from tests.api.running import running


def test_the_first_pages_are_compiled_once_for_all_applications(monkeypatch: pytest.MonkeyPatch) -> None:
    Templates({}).compile(FIRST_PAGES)
    monkeypatch.setattr(Environment, "_generate", None)
    Templates({}).compile(FIRST_PAGES)


@pytest.mark.parametrize("path", ["/", "/focus"])
async def test_a_service_that_is_ready_has_nothing_left_to_compile(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none_yet = _Compiled()
    monkeypatch.setattr("api.web.rendering._compiled", lambda: none_yet)
    async with running(tmp_path) as api:
        monkeypatch.setattr(Environment, "_generate", None)
        assert (await api.client.get(path)).status_code == 200
