"""The table of rules: each line, and that the first one decides."""

from __future__ import annotations

from typing import Any

import pytest

from intel.focus import RULES, SEVERITIES, Facts, first_match
from intel.focus.rules import score_parts
from tests.cases import each

CVE = {"kind": "cve", "sources": 1}
MALWARE = {"kind": "malware", "sources": 1}


@pytest.mark.promise("focus.rules")
@each(
    ("known", "rule"),
    [
        ({**CVE, "kev": True, "ransomware": True}, "C1"),
        ({**CVE, "kev": True, "kev_is_new": True}, "C1"),
        ({**CVE, "in_the_wild": True, "cvss": 9.0, "sources": 2}, "C2"),
        ({**CVE, "in_the_wild": True, "cvss": 9.0, "sources": 2, "kev": True}, "C2"),
        ({**MALWARE, "sources": 4, "new_iocs": 10}, "C3"),
        ({**CVE, "kev": True, "cvss": 10.0}, "H1"),
        ({**CVE, "in_the_wild": True, "cvss": 8.9, "sources": 2}, "H2"),
        ({**CVE, "in_the_wild": True, "sources": 2}, "H2"),
        ({**CVE, "in_the_wild": True, "cvss": 10.0}, "H2"),
        ({**CVE, "in_the_wild": True, "cvss": 7.0}, "H2"),
        ({**CVE, "poc": True, "cvss": 9.0}, "H3"),
        ({**CVE, "epss": 0.5}, "H4"),
        ({**MALWARE, "sources": 4, "new_iocs": 9}, "H5"),
        ({**MALWARE, "sources": 3, "new_iocs": 1}, "H5"),
        ({**CVE, "in_the_wild": True}, "M1"),
        ({**CVE, "in_the_wild": True, "cvss": 6.9}, "M1"),
        ({**CVE, "poc": True, "cvss": 8.9}, "M2"),
        ({**CVE, "cvss": 7.0, "sources": 2}, "M3"),
        ({**CVE, "sources": 3}, "M4"),
        ({**MALWARE, "sources": 5}, "M4"),
        ({"kind": "technique", "sources": 3, "new_iocs": 30}, "M4"),
        ({**CVE, "sources": 2, "cvss": 6.9, "epss": 0.49}, "L1"),
        ({**CVE, "cvss": 10.0, "epss": 0.49}, None),
        ({**MALWARE, "sources": 1, "new_iocs": 50}, None),
        ({**CVE, "sources": 0, "kev": True, "ransomware": True}, None),
    ],
)
def test_the_first_rule_that_matches_decides(known: dict[str, Any], rule: str | None) -> None:
    found = first_match(Facts(**known))
    assert (found.id if found else None) == rule


def test_rules_stand_from_the_most_severe_to_the_least() -> None:
    order = [SEVERITIES.index(rule.severity) for rule in RULES]
    assert order == sorted(order)
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_a_score_lifts_nothing_above_a_higher_severity() -> None:
    most = Facts("cve", 99, 99, True, True, True, True, True, 10.0, 1.0)
    for kind in ("cve", "malware", "technique"):
        highest = [sum(score_parts(severity, Facts(kind, 99, 99, True, True, True, True, True, 10.0, 1.0)).values())
                   for severity in SEVERITIES]  # fmt: skip
        lowest = [sum(score_parts(severity, Facts(kind)).values()) for severity in SEVERITIES]
        assert all(high < low for high, low in zip(highest[1:], lowest, strict=False))
    assert sum(score_parts("critical", most).values()) <= 100
