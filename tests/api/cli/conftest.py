from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from api.cli import upkeep
from tests.end_to_end.processes import Installation, installed

Told = dict[str, dict[str, Any]]
Ask = Callable[..., Told]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    """The installed command, on an empty data folder."""
    yield from installed(tmp_path, {})


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Ask:
    """Asks the doctor under these settings; what it says is not well, by what it looked at."""
    monkeypatch.setattr(upkeep, "configure_logs", lambda level: None)
    for name, value in {"IOC_DATA_DIR": tmp_path / "data", "IOC_BASE_URL": "http://127.0.0.1:9"}.items():
        monkeypatch.setenv(name, str(value))

    def asked(**settings: str) -> Told:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        with capture_logs():
            status = upkeep.doctor(as_json=True)
        unwell = {item["what"]: item for item in json.loads(capsysbinary.readouterr().out)["items"] if not item["well"]}
        assert status == (1 if unwell else 0)
        assert all(item["advice"] for item in unwell.values())
        return unwell

    return asked
