from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripts.conftest import ROOT

PROBE = "def test_it(redis_url):\n    assert redis_url.startswith('redis://')\n"
# These belong to other tests, and take half of the time that pytest needs to begin.
OTHERS_PLUGINS = ("-p", "no:playwright", "-p", "no:schemathesis")
NONE = {"TEST_ELASTICSEARCH_URL": "none", "TEST_REDIS_URL": "none", "TEST_CHROMIUM": "none"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose one test asks for Redis."""
    (tmp_path / "tests").mkdir()
    for name in ("__init__.py", "conftest.py", "examples.py", "indices.py", "order.py", "shared_tls.py", "stores.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    shutil.copytree(ROOT / "tests" / "engines", tmp_path / "tests" / "engines")
    (tmp_path / "tests" / "test_probe.py").write_text(PROBE)
    return tmp_path


def run(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.engines", "-q", *OTHERS_PLUGINS, *arguments],
        cwd=project,
        env={**{name: value for name, value in os.environ.items() if name != "CI"}, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.promise("ways.tests")
def test_an_engine_that_is_not_to_be_had_is_left_out_with_a_line_that_says_so(project: Path) -> None:
    done = run(project, **NONE)
    assert done.returncode == 0, done.stdout
    for name in ("Elasticsearch", "Redis", "Chromium"):
        assert f"{name}: not to be had, its tests are left out" in done.stdout
    assert "SQLite: 3." in done.stdout
    assert "1 skipped" in done.stdout


@pytest.mark.promise("ways.tests")
def test_in_ci_an_engine_that_is_not_to_be_had_is_a_failure(project: Path) -> None:
    done = run(project, **NONE, CI="true")
    assert done.returncode == 1
    assert "Redis is not to be had" in done.stdout


def test_the_engine_that_runs_is_named_and_given_to_the_tests(project: Path, redis_url: str) -> None:
    done = run(project, **{**NONE, "TEST_REDIS_URL": redis_url})
    assert f"Redis: {redis_url}" in done.stdout
    assert "1 passed" in done.stdout
    assert done.returncode == 0


FAILS_BESIDE_OTHERS = """
import pathlib

def test_alone(worker_id):
    assert worker_id == "master"

def test_never():
    assert {never}

def test_counts():
    with pathlib.Path("count").open("a") as count:
        count.write("once ")
"""


@pytest.mark.parametrize("never", [True, False])
def test_in_ci_what_failed_beside_others_runs_once_more_alone(project: Path, never: bool) -> None:
    (project / "tests" / "test_probe.py").write_text(FAILS_BESIDE_OTHERS.format(never=never))
    done = run(project, "-n", "1", **NONE, CI="true")
    assert "failed beside others and run once more, alone: tests/test_probe.py::test_alone" in done.stdout
    assert done.returncode == (0 if never else 1), done.stdout
    assert (project / "count").read_text() == "once "


def test_elsewhere_a_failure_is_one(project: Path) -> None:
    (project / "tests" / "test_probe.py").write_text(FAILS_BESIDE_OTHERS.format(never=True))
    done = run(project, "-n", "1", **NONE)
    assert "once more" not in done.stdout
    assert done.returncode == 1
