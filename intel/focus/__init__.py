"""Focus: the CVEs, malware and techniques that need attention now, each with the rule and the evidence for it."""

from intel.focus.board import Focus, focus_between, focus_items
from intel.focus.items import STATUSES, place_of
from intel.focus.rules import RULES, SEVERITIES, Facts, first_match, rules_up_to

__all__ = [
    "RULES",
    "SEVERITIES",
    "STATUSES",
    "Facts",
    "Focus",
    "first_match",
    "focus_between",
    "focus_items",
    "place_of",
    "rules_up_to",
]
