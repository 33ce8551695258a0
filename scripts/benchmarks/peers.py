"""Other extractors, each in an environment of its own under the temporary folder; no dependencies of this project."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tests.engines.elasticsearch_server import cache_folder
from tests.engines.engine import NotToBeHad

PEERS: Mapping[str, str] = MappingProxyType({"ioc-finder": "9.4.1", "iocsearcher": "3.1.0", "msticpy": "3.0.2"})
_INSTALL_SECONDS = 600


def peer_python(name: str, *, install: bool) -> Path:
    """Return the interpreter of the environment that holds that peer. NotToBeHad where it is neither there nor
    installable.
    """
    return python_of(name, PEERS[name], install=install)


def python_of(name: str, wanted: str, *, install: bool) -> Path:
    """Return the interpreter of an environment that holds that version of a package. NotToBeHad as above."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache_folder() / f"{name}-{wanted}-python{version}"
    finished, python = folder / "finished", folder / "bin" / "python"
    if finished.exists():
        return python
    if not install:
        raise NotToBeHad("it is not installed, and a quick run installs nothing")
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    _install(python, f"{name}=={wanted}")
    finished.touch()
    return python


def _install(python: Path, requirement: str) -> None:
    command: list[str] = [
        str(python),
        "-I",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        requirement,
    ]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise NotToBeHad(f"it was not installed within {_INSTALL_SECONDS} s") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise NotToBeHad(f"it cannot be installed: {last[0]}")
