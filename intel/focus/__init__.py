"""Focus: the CVEs, malware and techniques that need attention now, each with the rule and the evidence for it."""

from intel.focus.board import Focus
from intel.focus.items import STATUSES, place_of
from intel.focus.rules import RULES, SEVERITIES, Facts, first_match, rules_up_to

__all__ = [
    "RULES",
    "SEVERITIES",
    "STATUSES",
    "Facts",
    "Focus",
    "first_match",
    "place_of",
    "rules_up_to",
]
