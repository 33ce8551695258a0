"""Every promise of the contract has a test that names it, and no test names another."""

from __future__ import annotations

import ast
import functools
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
TABLE = tomllib.loads((Path(__file__).parent / "promises.toml").read_text("utf-8"))
LATER: dict[str, str] = TABLE["later"]
PROMISES: dict[str, str] = {
    id: says for section, each in TABLE.items() if section != "later" for id, says in each.items()
}


def promised_in(file: Path) -> Iterator[tuple[str, str]]:
    """(id, place) of every promise that a test file names."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "promise"
        if isinstance(node, ast.Call) and named and ast.unparse(node.func) == "pytest.mark.promise":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"{file}:{node.lineno}: write the id out"
                yield str(argument.value), f"{file.relative_to(TESTS)}:{node.lineno}"


@functools.cache
def promised() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        for id, place in promised_in(file):
            found[id].append(place)
    return found


@pytest.mark.slow
def test_every_promise_has_a_test() -> None:
    assert sorted(set(PROMISES) - set(LATER) - set(promised())) == []


def test_no_test_names_a_promise_that_is_not_in_the_table() -> None:
    assert {id: places for id, places in promised().items() if id not in PROMISES} == {}


@pytest.mark.slow
def test_what_comes_later_is_a_promise_without_a_test_and_says_why() -> None:
    assert sorted(set(LATER) - set(PROMISES)) == []
    assert sorted(set(LATER) & set(promised())) == []
    assert all(reason.strip() for reason in LATER.values())


def test_the_table_has_an_id_once_and_a_sentence_for_each() -> None:
    ids = [id for section, each in TABLE.items() if section != "later" for id in each]
    assert len(ids) == len(set(ids))
    assert all(says.strip() for says in PROMISES.values())
