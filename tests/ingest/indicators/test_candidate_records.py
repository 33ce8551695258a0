"""What is stored of an article's candidates is bounded."""

from __future__ import annotations

import pytest

from ingest.indicators import candidate_records as records
from ingest.indicators import document_from_text, extract


def test_the_evidence_of_the_first_ones_that_were_weighed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_WITH_EVIDENCE", 2)
    extraction = extract(document_from_text("fog[.]pw\nsetup.py\ngale-post.com\norlop-yard.com\n"))
    told = {each["value"]: "evidence" in each for each in records.candidate_records(extraction).records}
    assert told == {"fog.pw": False, "setup.py": True, "gale-post.com": True, "orlop-yard.com": False}
    assert sum("evidence" in each for each in records.all_candidate_records(extraction)) == 3
