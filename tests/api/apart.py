"""Programs that stand in an environment of their own, installed as their lock file says."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

LOCKS = Path(__file__).parent.parent.parent
_PATIENCE_SECONDS = 300


def made_apart(folder: Path, lock: Path) -> Path:
    """Make an environment with what a lock file names; return the folder of its programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    # Not compiled: each of them runs once or twice, and imports a part of what is installed.
    options = ("--quiet", "--no-compile", "--disable-pip-version-check", "--require-hashes")
    run(programs, "pip", "install", *options, "-r", lock)
    return programs


def run(programs: Path, program: str, *arguments: str | Path) -> str:
    """Run a program of an environment, which must succeed; return what it prints."""
    ran = subprocess.run(
        [str(programs / program), *map(str, arguments)],
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
