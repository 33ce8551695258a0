"""Focus: the CVEs, malware and techniques that need attention now, each with the rule and the evidence for it."""

from intel.focus.board import Focus
from intel.focus.rules import RULES, SEVERITIES, Facts, first_match, rules_up_to
from intel.focus.standings import STATUSES, Standing

__all__ = [
    "RULES",
    "SEVERITIES",
    "STATUSES",
    "Facts",
    "Focus",
    "Standing",
    "first_match",
    "rules_up_to",
]
