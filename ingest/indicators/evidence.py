"""Read the rows of `data/evidence.toml`: what counts for or against a candidate, by what can be seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ingest.indicators.rows import data

# Points, and the rule that gives them.
Evidence = tuple[int, str]


class EvidenceRow(NamedTuple):
    """A row of the table; `reason` is empty where an earlier row of the same rule has the sentence."""

    id: str
    points: int
    rule: str
    reason: str
    example: str
    value: str


def _row(row: dict[str, str], points: int) -> EvidenceRow:
    return EvidenceRow(
        row["id"], points, row.get("rule", row["id"]), row.get("reason", ""), row["example"], row["value"]
    )


def _rows() -> tuple[EvidenceRow, ...]:
    return tuple(_row(row, row["points"]) for row in data("evidence.toml")["evidence"])


EVIDENCE_ROWS: Final = _rows()
# Rules that are told as the reason of a verdict only where no other speaks for it.
TOLD_LAST: Final = frozenset(
    row.get("rule", row["id"]) for row in data("evidence.toml")["evidence"] if "told_last" in row
)
# What each row says, by its id: a rule without a row here is a mistake that the first text shows.
EVIDENCE: Final[Mapping[str, Evidence]] = MappingProxyType({row.id: (row.points, row.rule) for row in EVIDENCE_ROWS})
