"""What was weighed in a text, as it is stored and told."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Weighed(TypedDict):
    """A rule that spoke of a candidate, and what it counted for it (below 0: against it)."""

    points: int
    rule: str


class CandidateRecord(TypedDict):
    """What was weighed in a text, kept or dropped: as written at `start:end`, and the rule that decided, with why.

    `evidence` is there where several rules were weighed.
    """

    type: str
    value: str
    spelling: str
    start: int
    end: int
    place: str
    kept: bool
    score: int
    rule: str
    reason: str
    evidence: NotRequired[list[Weighed]]
