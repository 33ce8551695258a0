"""The table of severity rules, the first of which that matches decides, and the score that orders equal severities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from intel.catalogues.notable import HIGH_EPSS

SEVERITIES = ("critical", "high", "medium", "low")
KEV_IS_NEW_DAYS = 14


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a subject at one moment, from catalogues and from the articles of the 14 days before it.

    `sources` are independent ones (copies of a text count once), `new_iocs` indicators named near a malware that were
    first seen within the window. None, False and 0 stand for what nobody has recorded, and match no rule.
    """

    kind: str
    sources: int = 0
    new_iocs: int = 0
    in_the_wild: bool = False
    poc: bool = False
    kev: bool = False
    kev_is_new: bool = False
    ransomware: bool = False
    cvss: float | None = None
    epss: float | None = None

    def scored(self, least: float) -> bool:
        """Tell whether a CVSS score is known and is at least `least`."""
        return self.cvss is not None and self.cvss >= least


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table; `words` tell a person why it matches."""

    id: str
    severity: str
    words: str
    matches: Callable[[Facts], bool]


RULES = (
    Rule(
        "C1",
        "critical",
        "in CISA's KEV catalogue, and its use by ransomware is known or it was added within 14 days",
        lambda f: f.kev and (f.ransomware or f.kev_is_new),
    ),
    Rule(
        "C2",
        "critical",
        "an article says it is exploited in the wild, CVSS is at least 9.0, and 2 or more independent sources "
        "write of it",
        lambda f: f.in_the_wild and f.scored(9.0) and f.sources >= 2,
    ),
    Rule(
        "C3",
        "critical",
        "malware that 4 or more independent sources write of, with 10 or more new indicators",
        lambda f: f.kind == "malware" and f.sources >= 4 and f.new_iocs >= 10,
    ),
    Rule("H1", "high", "in CISA's KEV catalogue", lambda f: f.kev),
    Rule(
        "H2",
        "high",
        "an article says it is exploited in the wild, and 2 or more independent sources write of it or CVSS is "
        "at least 7.0",
        lambda f: f.in_the_wild and (f.sources >= 2 or f.scored(7.0)),
    ),
    Rule(
        "H3",
        "high",
        "an article says that a proof of concept is about, and CVSS is at least 9.0",
        lambda f: f.poc and f.scored(9.0),
    ),
    Rule("H4", "high", f"EPSS is at least {HIGH_EPSS}", lambda f: f.epss is not None and f.epss >= HIGH_EPSS),
    Rule(
        "H5",
        "high",
        "malware that 3 or more independent sources write of, with at least one new indicator",
        lambda f: f.kind == "malware" and f.sources >= 3 and f.new_iocs >= 1,
    ),
    Rule("M1", "medium", "an article says it is exploited in the wild", lambda f: f.in_the_wild),
    Rule("M2", "medium", "an article says that a proof of concept is about", lambda f: f.poc),
    Rule(
        "M3",
        "medium",
        "CVSS is at least 7.0, and 2 or more independent sources write of it",
        lambda f: f.scored(7.0) and f.sources >= 2,
    ),
    Rule("M4", "medium", "3 or more independent sources write of it", lambda f: f.sources >= 3),
    Rule("L1", "low", "2 or more independent sources write of it", lambda f: f.sources >= 2),
)
_BASE = {"critical": 75, "high": 50, "medium": 25, "low": 0}


def first_match(facts: Facts) -> Rule | None:
    """Return the rule that decides; None if no article of the window names the subject or no rule matches."""
    if not facts.sources:
        return None
    return next((rule for rule in RULES if rule.matches(facts)), None)


def score_parts(severity: str, facts: Facts) -> dict[str, int]:
    """Return the parts whose sum is the score (0 to 100); it never lifts a subject above a higher severity."""
    parts = {"severity": _BASE[severity], "sources": min(10, facts.sources)}
    if facts.kind == "malware":
        return parts | {"new_iocs": min(10, facts.new_iocs // 2)}
    return parts | {
        "kev": 5 if facts.kev else 0,
        "exploitation": 4 if facts.in_the_wild else 2 if facts.poc else 0,
        "cvss": int(facts.cvss * 0.4) if facts.cvss is not None else 0,
        "epss": 1 if facts.epss is not None and facts.epss >= 0.1 else 0,
    }


def rules_up_to(id: str) -> tuple[Rule, ...]:
    """Return the rules that were tried, up to and including the one that matched."""
    ids = [rule.id for rule in RULES]
    return RULES[: ids.index(id) + 1]
