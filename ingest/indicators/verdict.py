"""Say whether a candidate is kept, by the evidence that was found for and against it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from ingest.indicators.evidence import TOLD_LAST, Evidence

THRESHOLD: Final = 1


class Verdict(NamedTuple):
    """Whether a candidate is kept, the rule that decided, and how strongly (above 0 is kept).

    `evidence`: (points, rule) of every rule that spoke, where several were weighed.
    """

    kept: bool
    rule: str
    score: int
    evidence: tuple[Evidence, ...] = ()


def sum_of(evidence: list[Evidence]) -> int:
    """Return the points of all evidence."""
    score = 0
    for points, _ in evidence:
        score += points
    return score


def weighed(evidence: list[Evidence]) -> Verdict:
    """Return the verdict by the sum of the evidence, with the weightiest of the reasons that speak for it."""
    return _weighed(tuple(evidence))


@lru_cache(maxsize=4096)  # of a list nearly all items have the same evidence
def _weighed(evidence: tuple[Evidence, ...]) -> Verdict:
    score = sum([points for points, _ in evidence])
    kept = score >= THRESHOLD
    reasons = [entry for entry in evidence if (entry[0] > 0) == kept]
    rule = max(reasons, key=_weight)[1] if reasons else "nothing speaks for it"
    return Verdict(kept, rule, score, evidence)


def _weight(entry: Evidence) -> int:
    points, rule = entry
    return 0 if rule in TOLD_LAST else abs(points)
