from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from tests.cases import each
from tests.scripts.conftest import ROOT

LOCKS = ("requirements.txt", "requirements-dev.txt")


def lock(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def normal(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name
    return re.sub(r"[-_.]+", "-", name.group()).lower()


def locked(name: str) -> dict[str, str]:
    return {normal(package): version for package, version in re.findall(r"^([^\s=]+)==([^\s;\\]+)", lock(name), re.M)}


def project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@each("name", sorted(file.name for file in ROOT.glob("requirements*")))
def test_a_lock_names_no_address(name: str) -> None:
    assert "://" not in lock(name)
    assert not re.search(r"^(-|--)(index|extra|find|trusted)", lock(name), re.M)


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_version_and_a_hash(name: str) -> None:
    entries = re.split(r"\n(?=\S)", lock(name).strip())
    assert len(entries) == len(locked(name)) or len(entries) > len(locked(name)) > 50
    for entry in entries:
        assert re.match(r"\S+==\S+", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]


def test_the_lock_covers_what_the_project_declares() -> None:
    assert {normal(requirement) for requirement in project()["dependencies"]} <= locked("requirements.txt").keys()


def test_the_development_lock_covers_what_tests_need() -> None:
    needed = {normal(requirement) for requirement in project()["optional-dependencies"]["dev"]}
    assert needed <= locked("requirements-dev.txt").keys()


def test_tests_run_on_the_versions_that_are_delivered() -> None:
    tested = locked("requirements-dev.txt")
    assert {name: tested.get(name) for name in locked("requirements.txt")} == locked("requirements.txt")
