"""`ioc source trust`, on both engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.processes import Installation, installed


@pytest.fixture
def here(tmp_path: Path, either_engines: dict[str, str]) -> Iterator[Installation]:
    """The installed command, on empty engines."""
    yield from installed(tmp_path, either_engines)


@pytest.mark.promise("trust.who")
def test_a_trust_is_set_and_listed(here: Installation) -> None:
    (here.folder / "one.txt").write_text("Kestrel\n\nIt asked evil-kestrel[.]example for orders.\n")
    assert here.run("import", "one.txt", "--source", "Agency North").returncode == 0

    def confidence() -> int:
        shown = json.loads(here.run("lookup", "evil-kestrel[.]example", "--json").stdout)["items"]
        return int(shown[0]["iocs"][0]["confidence"])

    usual = confidence()
    assert "usual trust of 50" in here.run("source", "trust").stderr
    assert "Agency North has a trust of 100" in here.run("source", "trust", "Agency North", "100").stderr
    assert json.loads(here.run("source", "trust", "--json").stdout) == {
        "items": [{"name": "Agency North", "trust": 100}]
    }
    assert confidence() == usual + 20
    for wrong in ("101", "much", ""):
        assert here.run("source", "trust", "Agency North", wrong).returncode != 0
    assert here.run("source", "trust", "Agency North").returncode == 2
