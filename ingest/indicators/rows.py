"""What every row of the tables of evidence has in common, and where the tables lie."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its name in `--explain`, what it counts, a sentence for the analyst, and texts to try it on.

    It speaks of `value` in `example`, and not in `counterexample`.
    """

    id: str
    points: int
    reason: str
    example: str
    value: str
    counterexample: str


@cache
def data(name: str) -> dict[str, Any]:
    """Return a data file, read once."""
    return tomllib.loads((files("ingest.indicators") / "data" / name).read_text(encoding="utf-8"))


def examples_in(name: str) -> Iterator[str]:
    """Yield the text of each example in a data file, and of each counterexample."""
    rows = (row for table in data(name).values() if isinstance(table, list) for row in table)
    return (row[member] for row in rows for member in ("example", "counterexample") if member in row)


def told(row: dict[str, Any]) -> tuple[str, int, str, str, str, str]:
    """Return what a row of a data file says for the members that all rows have."""
    return row["id"], row["points"], row["reason"], row["example"], row["value"], row.get("counterexample", "")
