from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("install", "bootstrap.py")
CLI = "import sys\n\n\ndef main():\n    print('called with', *sys.argv[1:])\n    return 3\n"
PYPROJECT = '[project]\nname = "tree"\n[project.scripts]\nioc = "api.cli:main"\nioc-mcp = "mcp_server.main:main"\n'


@dataclass(frozen=True, slots=True)
class Tree:
    """A small project with this one's scripts and locks that name no package, so that nothing is downloaded."""

    root: Path

    def run(self, *command: str, environment: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
        """Runs a file of the tree from another folder than its own."""
        return subprocess.run(
            [str(self.root / command[0]), *command[1:]],
            cwd="/",
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )


def lay_out(root: Path) -> None:
    for room, file in (("api", "cli.py"), ("mcp_server", "main.py")):
        (root / room).mkdir(parents=True)
        (root / room / "__init__.py").touch()
        (root / room / file).write_text(CLI)
    (root / "scripts").mkdir()
    for script in SCRIPTS:
        shutil.copy(ROOT / "scripts" / script, root / "scripts" / script)
    for lock in ("requirements.txt", "requirements-dev.txt"):
        (root / lock).write_text("# nothing\n")
    (root / "pyproject.toml").write_text(PYPROJECT)


@pytest.fixture(scope="session")
def only_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to be the whole of PATH, with a shell's few programs and this interpreter as python3."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("bash", "sh", "dirname", "env"):
        (folder / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    write_program(folder / "python3", f'exec "{sys.executable}" "$@"')
    return folder


def write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    root = tmp_path / "a folder with blanks"
    lay_out(root)
    return Tree(root)


@pytest.fixture(scope="session")
def first_install(
    tmp_path_factory: pytest.TempPathFactory, only_python: Path
) -> tuple[Tree, Path, subprocess.CompletedProcess[str]]:
    """A tree after its first scripts/install with nothing but Python on PATH, a copy of it, and what was said."""
    root = tmp_path_factory.mktemp("installed") / "a folder with blanks"
    lay_out(root)
    said = Tree(root).run("scripts/install", environment={"PATH": str(only_python)})
    kept = root.with_name("kept")
    shutil.copytree(root, kept, symlinks=True)
    return Tree(root), kept, said


@pytest.fixture
def installed(first_install: tuple[Tree, Path, subprocess.CompletedProcess[str]]) -> Tree:
    """The installed tree, in the same place and state for every test: an environment cannot be moved."""
    tree, kept, said = first_install
    assert said.returncode == 0, said.stderr
    shutil.rmtree(tree.root, ignore_errors=True)
    shutil.copytree(kept, tree.root, symlinks=True)
    return tree
