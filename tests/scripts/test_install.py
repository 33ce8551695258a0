from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.engine import free_port
from tests.scripts.conftest import Tree, write_program

NEW_ENOUGH = "import sys, sqlite3, ssl, ensurepip; sys.exit(sys.version_info < (3, 11))"
WITHOUT_ENSUREPIP = f"""
case "$*" in
  *"import ensurepip"*) exit 1 ;;
  *bootstrap.py*) shift; exec "{sys.executable}" -c '
import runpy, sys
sys.modules["ensurepip"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "$@" ;;
esac
exec "{sys.executable}" "$@"
"""


def cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.promise("ways.install")
def test_python_alone_is_enough_and_the_commands_run_the_project_from_a_folder_with_blanks(installed: Tree) -> None:
    called = installed.run(".venv/bin/ioc", "search", "a b")
    assert (called.stdout, called.returncode) == ("called with search a b\n", 3)
    assert installed.run(".venv/bin/ioc-mcp").returncode == 3
    assert json.loads((installed.root / ".venv" / "installed.json").read_text())["dev"] is False


@pytest.mark.promise("ways.install")
def test_a_second_run_is_silent_and_quick_and_changes_nothing(installed: Tree) -> None:
    before = {path: path.lstat().st_mtime_ns for path in (installed.root / ".venv").rglob("*")}
    begin = cpu_seconds_of_children()
    again = installed.run("scripts/install")
    assert cpu_seconds_of_children() - begin < 1.5
    assert (again.stdout, again.stderr, again.returncode) == ("", "", 0)
    assert {path: path.lstat().st_mtime_ns for path in (installed.root / ".venv").rglob("*")} == before


def test_a_changed_lock_is_installed_into_the_same_environment(installed: Tree) -> None:
    (installed.root / "requirements.txt").write_text("# still nothing\n")
    said = installed.run("scripts/install").stdout
    assert "Installing requirements.txt" in said
    assert "Making .venv" not in said


def test_a_development_environment_stays_one(installed: Tree) -> None:
    assert "Installing requirements-dev.txt" in installed.run("scripts/install", "--dev").stdout
    assert installed.run("scripts/install").stdout == ""
    (installed.root / "requirements-dev.txt").write_text("# still nothing\n")
    assert "Installing requirements-dev.txt" in installed.run("scripts/install").stdout


def test_an_environment_that_moved_with_its_project_is_made_anew(installed: Tree) -> None:
    moved = Tree(installed.root.with_name("elsewhere"))
    shutil.copytree(installed.root, moved.root, symlinks=True)
    shutil.rmtree(installed.root)
    assert "Making .venv" in moved.run("scripts/install").stdout
    assert moved.run(".venv/bin/ioc").returncode == 3


def test_an_environment_whose_python_is_gone_is_made_anew(installed: Tree) -> None:
    (installed.root / ".venv" / "bin" / "python").unlink()
    assert "Making .venv" in installed.run("scripts/install").stdout
    assert installed.run(".venv/bin/ioc").returncode == 3


def test_an_index_out_of_reach_is_said_with_what_to_do_and_the_next_run_begins_anew(installed: Tree) -> None:
    lock = installed.root / "requirements.txt"
    lock.write_text("idna==3.10 --hash=sha256:" + "0" * 64 + "\n")
    nowhere = {"PIP_INDEX_URL": f"http://127.0.0.1:{free_port()}/", "PIP_RETRIES": "0", "PIP_FIND_LINKS": ""}
    done = installed.run("scripts/install", environment={**nowhere, "PIP_NO_CACHE_DIR": "1"})
    assert done.returncode == 1
    assert "PIP_INDEX_URL" in done.stderr
    assert "run this again" in done.stderr
    lock.write_text("# nothing\n")
    assert "Making .venv" in installed.run("scripts/install").stdout


def test_a_python_without_ensurepip_is_told_what_to_install(tree: Tree, tmp_path: Path, only_python: Path) -> None:
    write_program(tmp_path / "python3", WITHOUT_ENSUREPIP)
    done = tree.run("scripts/install", environment={"PATH": f"{tmp_path}:{only_python}"})
    assert done.returncode == 2
    assert "apt install python3-venv" in done.stderr
    assert f"python{sys.version_info.major}.{sys.version_info.minor}-venv" in done.stderr
    assert not (tree.root / ".venv").exists()


@pytest.mark.parametrize("program", ["echo Python 3.9.2; exit 1", "exit 127"])
def test_no_python_that_is_new_enough_is_said_in_a_sentence(
    tree: Tree, tmp_path: Path, only_python: Path, program: str
) -> None:
    write_program(tmp_path / "python3", program)
    done = tree.run("scripts/install", environment={"PATH": f"{tmp_path}:{only_python}"})
    assert done.returncode == 2
    assert "Python 3.11 or newer" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(shutil.which("python3", path="/usr/bin") is None, reason="the system has no Python of its own")
def test_of_one_version_the_systems_own_is_asked_first(tree: Tree, tmp_path: Path) -> None:
    write_program(tmp_path / "python3", 'echo "was asked" >&2; exit 1')
    names = [f"python3.{minor}" for minor in range(11, 15)]
    for name in names:
        write_program(tmp_path / name, "exit 1")
    system = subprocess.run(["/usr/bin/python3", "-c", NEW_ENOUGH], check=False).returncode == 0
    done = tree.run("scripts/install", environment={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (done.returncode == 0) == system
    assert (tree.root / ".venv" / "bin" / "python").exists() == system
