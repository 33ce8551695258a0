"""How far an indicator can be relied on, as a number: each rule that holds adds its points, from 0 to 100.

The table is all there is, and how far its best source is trusted: `Evidence` says what is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from intel.ageing import Status

# How far a source is trusted, 0 to 100, of which nobody said anything.
USUAL_TRUST: Final = 50
MOST_TRUST: Final = 100
_POINTS_OF_TRUST: Final = 0.4
# Beyond these nothing changes.
_MOST_SOURCES: Final = 5
_MOST_VOTES: Final = 3


class Evidence(NamedTuple):
    """What is known of an indicator; `status` None where its age is not to count.

    `trust` is that of the most trusted of its sources.
    """

    sources: int
    with_malware: bool
    status: Status | None
    warned: bool
    false_positives: int
    trust: int = USUAL_TRUST


class Counted(NamedTuple):
    """A rule that holds for an indicator."""

    id: str
    points: int
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule looks for, its points, and the reason in words."""

    id: str
    points: int
    reason: str
    holds: Callable[[Evidence], bool]


RULES: Final = (
    Rule("reported", 30, "a source names it", lambda known: known.sources >= 1),
    Rule("second_source", 20, "a second independent source names it", lambda known: known.sources >= 2),
    Rule("third_source", 10, "a third independent source names it", lambda known: known.sources >= 3),
    Rule("many_sources", 10, "five independent sources or more name it", lambda known: known.sources >= _MOST_SOURCES),
    Rule("with_malware", 10, "it has associated malware", lambda known: known.with_malware),
    Rule("active", 20, "it was seen of late, for its type", lambda known: known.status == "active"),
    Rule("ageing", 10, "it was seen some time ago, for its type", lambda known: known.status == "ageing"),
    Rule("warned", -40, "it stands on a warning list", lambda known: known.warned),
    Rule("false_positive", -20, "an account calls it a false positive", lambda known: known.false_positives >= 1),
    Rule("disputed", -20, "three accounts or more do so", lambda known: known.false_positives >= _MOST_VOTES),
)


@lru_cache(maxsize=1024)
def confidence(known: Evidence) -> int:
    """Return the confidence in an indicator, 0 to 100."""
    return max(0, min(100, sum(rule.points for rule in rules_of(known))))


def rules_of(known: Evidence) -> tuple[Counted, ...]:
    """Return the rules that hold for an indicator, in their order."""
    held = [Counted(rule.id, rule.points, rule.reason) for rule in RULES if rule.holds(known)]
    if points := round((known.trust - USUAL_TRUST) * _POINTS_OF_TRUST):
        held.append(Counted("source_trust", points, f"its most trusted source has a trust of {known.trust} of 100"))
    return tuple(held)
