"""CVSS scores that a text states."""

from __future__ import annotations

import pytest

from ingest.wording import findings_of
from ingest.wording.scores import StatedScore
from tests.cases import each

A, B = "CVE-2026-1001", "CVE-2026-1002"
VECTOR = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"


def cvss(text: str, cve: str = A) -> StatedScore | None:
    return findings_of(text, [A, B]).get(cve, {}).get("cvss")


@pytest.mark.promise("focus.article-cvss")
@each(
    ("text", "score", "version"),
    [
        (f"{A} (CVSS 9.8) lets anyone in.", 9.8, None),
        (f"{A} (CVSS score: 9.8) lets anyone in.", 9.8, None),
        (f"{A} (CVSS v3.1 9.8) lets anyone in.", 9.8, "3.1"),
        (f"{A}, CVSSv3 base score of 7.5, is fixed.", 7.5, "3"),
        (f"{A} has a CVSS 4.0 score of 9.3.", 9.3, "4.0"),
        (f"The bug ({A}, CVSS: 10.0) is fixed.", 10.0, None),
        (f"With a CVSS score of 8.8, {A} is serious.", 8.8, None),
        (f"{A} scores 9.1 on the CVSS scale.", 9.1, None),
        (f"{A} carries a severity score of 9.9 out of 10.", 9.9, None),
        (f"{A} was fixed. It has a CVSS score of 6.5.", 6.5, None),
        (f"{A}: {VECTOR}", 9.8, "3.1"),
        (f"{A} | 9.8 | {VECTOR}", 9.8, "3.1"),
    ],
)
def test_a_score_is_read_as_it_is_usually_written(text: str, score: float, version: str | None) -> None:
    found = cvss(text)
    assert found is not None and (found["score"], found["version"]) == (score, version)


def test_a_vector_is_kept_and_counted_out() -> None:
    assert cvss(f"{A} is rated {VECTOR}.") == {"score": 9.8, "version": "3.1", "vector": VECTOR}
    changed = "CVSS:3.1/AV:L/AC:H/PR:L/UI:R/S:C/C:L/I:L/A:N"
    found = cvss(f"{A} is rated {changed}.")
    assert found is not None and found["score"] == 3.9


def test_each_cve_has_its_own_score() -> None:
    text = f"{A} (CVSS 9.8) and {B} (CVSS 5.3) are fixed."
    first, second = cvss(text), cvss(text, B)
    assert first is not None and second is not None
    assert (first["score"], second["score"]) == (9.8, 5.3)


@each(
    "text",
    [
        f"{A} is fixed in version 9.8.",
        f"{A} has no CVSS score yet. Version 3.1 is out.",
        f"{A}: CVSS 98 of 100 customers agree.",
        f"{A} is fixed. Our team scored 9.8 in the game.",
        f"The CVSS of {A} is not known; 5.2.1 fixes it.",
    ],
)
def test_other_numbers_are_no_scores(text: str) -> None:
    assert cvss(text) is None
