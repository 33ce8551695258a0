"""What the data files hold can be read: each regular expression in them compiles, before a text asks for it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from tests.cases import each

_FOLDER = files("ingest.indicators") / "data"
# Texts to try rows on, sentences for people and pieces of text, which are no expressions.
_PROSE = {"example", "counterexample", "value", "reason", "id", "rule"}
_PIECES = {"trigger", "hint"}


def strings_in(table: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if (name in _PROSE and isinstance(value, str)) or name in _PIECES:
            continue
        if isinstance(value, str):
            yield f"{path}.{name}", value
        elif isinstance(value, dict):
            yield from strings_in(value, f"{path}.{name}")
        elif isinstance(value, list):
            for index, row in enumerate(value):
                if isinstance(row, str) and name != "pieces":
                    yield f"{path}.{name}.{index}", row
                if isinstance(row, dict):
                    yield from strings_in(row, f"{path}.{name}.{row.get('id', index)}")


@each(
    "name",
    [
        "contexts.toml",
        "people.toml",
        "names.toml",
        "vocabulary.toml",
        "hashes.toml",
        "lists.toml",
        "notes.toml",
        "clauses.toml",
        "harm.toml",
    ],
)
def test_every_expression_of_a_data_file_compiles(name: str) -> None:
    table = tomllib.loads((_FOLDER / name).read_text(encoding="utf-8"))
    found = list(strings_in(table, name.removesuffix(".toml")))
    assert found
    broken = {}
    for place, pattern in found:
        try:
            re.compile(pattern)
        except re.error as error:
            broken[place] = str(error)
    assert not broken
