"""The wheel that `pip install .` makes: all that the service needs, in one package."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.test_rooms import ROOMS, ROOT

PACKAGE = "ioc_intelligence"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel was unpacked into, as pip does."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    made = subprocess.run(build, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder / "packages")
    return folder / "packages"


def run(installed: Path, code: str, typed: str = "") -> str:
    """What Python prints where nothing of the checkout is on the path but the environment's other packages."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=installed.parent,
        env=environment,
        input=typed,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.promise("operations.package")
@pytest.mark.timeout(900)
def test_a_wheel_holds_every_file_in_one_package(installed: Path) -> None:
    assert {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")} == {PACKAGE}
    missing = [
        str(file.relative_to(ROOT))
        for room in ROOMS
        for file in (ROOT / room).rglob("*")
        if file.is_file() and file.suffix not in (".pyc", ".so")
        if not (installed / PACKAGE / file.relative_to(ROOT)).exists()
    ]
    assert missing == []


@pytest.mark.promise("operations.package")
@pytest.mark.timeout(900)
def test_the_commands_of_a_wheel_run_on_its_own_files(installed: Path) -> None:
    where = run(installed, f"import {PACKAGE}.app, api, search_mappings; print(api.__file__, search_mappings.__file__)")
    assert where.count(str(installed / PACKAGE)) == 2
    extract = f"import sys; sys.argv = ['ioc', 'extract', '-']; from {PACKAGE}.commands import ioc; ioc()"
    assert "evil-loader.top" in run(installed, extract, "The loader spoke to evil-loader[.]top.")
