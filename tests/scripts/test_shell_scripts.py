from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.cases import each
from tests.scripts.conftest import ROOT

SHELL = sorted(
    path
    for path in (*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run")
    if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env bash")
)


def test_every_chore_has_its_script() -> None:
    assert {path.name for path in SHELL} >= {"install", "start", "test", "check", "format", "lock", "run"}


@each("script", SHELL, ids=lambda path: path.name)
def test_a_script_is_executable_and_parses(script: Path) -> None:
    assert os.access(script, os.X_OK)
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@each("script", SHELL, ids=lambda path: path.name)
def test_a_script_stops_at_the_first_failure_and_says_what_it_is_for(script: Path) -> None:
    lines = script.read_text("utf-8").splitlines()
    assert lines[1].startswith("# ")
    assert "set -euo pipefail" in lines
