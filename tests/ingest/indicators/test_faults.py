"""A fault of ours costs one candidate, is logged, and is told among the candidates, which the metrics count."""

from __future__ import annotations

import pytest

from ingest.indicators import document_from_text, extract, sightings
from ingest.indicators.sightings import NOT_READ
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.tokens import read_token


def test_a_token_that_no_rule_was_made_for_is_logged_and_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(token: str) -> list[TokenCandidate]:
        if token.startswith("fog"):
            raise IndexError("a fault")
        return read_token(token)

    monkeypatch.setattr(sightings, "read_token", broken)
    extraction = extract(document_from_text("C2: gale-post[.]com\nC2: fog-post[.]com\n"))
    assert [indicator.value for indicator in extraction.indicators] == ["gale-post.com"]
    assert [candidate.rule for candidate in extraction.candidates() if not candidate.kept] == [NOT_READ]
    assert "could not be read" in caplog.text
    assert "fog" not in caplog.messages[0]


def test_a_fault_behind_the_head_of_a_url_is_logged_and_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(token: str) -> list[TokenCandidate]:
        if token.startswith("hxxp://fog"):
            raise ValueError("a fault")
        return read_token(token)

    monkeypatch.setattr(sightings, "read_token", broken)
    extraction = extract(document_from_text("C2: hxxp:// fog-post.com/a\n"))
    assert NOT_READ in [candidate.rule for candidate in extraction.candidates()]
    assert "could not be read" in caplog.text
