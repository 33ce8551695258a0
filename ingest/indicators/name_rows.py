"""Read `data/names.toml`: what stands beside a name that no list has, what its spelling says, and what that counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from ingest.indicators.evidence import Evidence
from ingest.indicators.late import late
from ingest.indicators.rows import Row, data, told

_PART: Final = re.compile(r"(?<!\?P)<([a-z_]+)>")
_SIDES: Final = ("lead", "joint", "tail")


@dataclass(frozen=True, slots=True)
class NameRow(Row):
    """A row of the table: what is said beside a name, and how much that counts.

    `at_the_beginning`: its points where the name has its capital for another reason. `said` matches where the words
    begin: they, and the name where it stands behind them. `before` ends there: the name where it stands before the
    words, else what must lead up to them. What the others ask stands in the data file.
    """

    at_the_beginning: int
    is_behind: bool
    is_joined: bool
    pieces: tuple[str, ...]
    said: re.Pattern[str]
    before: re.Pattern[str] | None
    line: re.Pattern[str] | None
    of_malware: bool
    listed: bool
    of_a_sample: bool
    across: bool
    until: int
    group: str


def _table() -> dict[str, Any]:
    return data("names.toml")


@cache
def part(name: str) -> str:
    """Return a part of the table, or what triggers a row: its words of all languages, of which one is sought."""
    table = _table()
    words = table["part"].get(name) or table["trigger"][name]
    return f"(?:{'|'.join(chain.from_iterable(words.values()))})"


def _filled(pattern: str) -> str:
    return _PART.sub(lambda found: part(found[1]), pattern)


def _row(row: dict[str, Any]) -> NameRow:
    table = _table()
    defaults = table[row["side"]]
    lead, joint, tail = (_filled(row.get(each, defaults[each])) for each in _SIDES)
    name = f"(?P<name>{_filled(table['spelled'][row.get('spelled', 'word')])})"
    words = f"(?i:{_filled(row['words'])})" if "words" in row else ""
    is_behind = row["side"] == "behind"
    before = rf"{lead}{name}{joint}\Z" if is_behind else rf"{lead}\Z" if lead else ""
    return NameRow(
        *told(row),
        row.get("at_the_beginning", row["points"]),
        is_behind,
        row.get("joined", False),
        tuple(row.get("pieces") or chain.from_iterable(table["trigger"][row["trigger"]].values())),
        late(f"{words}{tail}" if is_behind else f"{words}{joint}{name}{tail}"),
        late(before) if before else None,
        late(row["line"]) if "line" in row else None,
        row.get("of_malware", False),
        row.get("listed", False),
        row.get("of_a_sample", False),
        row.get("across", False),
        row.get("until", 0),
        row.get("group", row["id"]),
    )


@cache
def name_rows() -> tuple[NameRow, ...]:
    """Return the rows that look for names."""
    return tuple(map(_row, _table()["row"]))


@cache
def sign(id: str) -> Evidence:
    """Return what a name says by its spelling, or by where else it stands."""
    return next((row["points"], row["id"]) for row in _table()["sign"] if row["id"] == id)


@cache
def words_of_sign(id: str) -> re.Pattern[str]:
    """Return the pattern of what a sign is seen by."""
    return re.compile(next(row["words"] for row in _table()["sign"] if row["id"] == id))


def points_enough() -> int:
    """Return from how many points on a name counts."""
    points: int = _table()["enough"]
    return points


def points_least() -> int:
    """Return how much must be said of a name, besides what its spelling says."""
    points: int = _table()["least"]
    return points


@cache
def reasons_of_names() -> Mapping[str, str]:
    """Return the sentence of each row and sign for the person who asks."""
    return MappingProxyType({row["id"]: row["reason"] for row in (*_table()["row"], *_table()["sign"])})
