"""What the characters at a place rule out never matches there, and one look rules out most."""

from __future__ import annotations

import re

import pytest

from ingest.indicators import edges
from ingest.indicators.edges import EVERY, Edge
from tests.ingest.indicators.labelled import labelled
from tests.ingest.indicators.test_snippets import ALL

TEXTS = [snippet.text for snippet in ALL] + [
    line for item in labelled("reports") for line in item.text.split("\n") if line
]
AT_THE_END = (
    (r"(?i)\bcommits?(?:\s(?:id|is|of)){0,3}[\s:`(#]{1,3}\Z", 0),
    (r"(?:\b(?:C2|server)(?: (?:at|on))?|攻击者)[ :`]{1,4}\Z", re.IGNORECASE),
    (r"(?>[0-9]{1,3}\.){3}\Z", 0),
    (r"(?:a|b(?=c)|)(?<!x)[^\W\d_]+\W?\Z", 0),
    (r"([\"']).{0,8}\1?\Z", re.DOTALL),
    (r"(?!)\Z", 0),
    (r"(?:(?i:sha)-?(?:1|256)|md5)(?:\n|[:=])[ \t]*\Z", 0),
)
AT_THE_BEGINNING = (
    (r"(?i)[`)\"']{0,2}[ \t:-]{1,3}(?:the )?(?:initial|last) commit\b", 0),
    (r"\.[a-z]{2,3}(?![\w.])|/", 0),
    (r"(?P<sign>[-*])\s?(?P=sign)?\w", 0),
    (r"(?i:s)t|ſ", 0),
)


@pytest.mark.slow
@pytest.mark.parametrize(("patterns", "is_before"), [(AT_THE_END, True), (AT_THE_BEGINNING, False)])
def test_a_pattern_is_ruled_out_only_where_it_does_not_match(
    patterns: tuple[tuple[str, int], ...], is_before: bool
) -> None:
    edge = Edge(is_before=is_before)
    bits = [(edge.bit_of(pattern, flags), re.compile(pattern, flags)) for pattern, flags in patterns]
    asked = ruled_out = 0
    for text in TEXTS:
        for place in range(0, len(text) + 1, 3):
            may = edge.at(text, place)
            for bit, pattern in bits:
                found = pattern.search(text, max(0, place - 40), place) if is_before else pattern.match(text, place)
                assert found is None or may & bit, (pattern.pattern, text[max(0, place - 40) : place + 40])
                asked += may != EVERY
                ruled_out += not may & bit
    assert ruled_out > asked // 2 > 10_000


def test_what_many_different_texts_ask_is_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edges, "_MOST_ANSWERS", 50)
    monkeypatch.setattr(edges, "_MOST_STATES", 20)
    edge = Edge(is_before=True)
    bit = edge.bit_of(r"(?:[a-y]{1,60}[0-9]{1,60}){1,9}\Z")
    for number in range(3_000):
        text = f"{'z' * (number % 3)}{number % 7}x{number}"
        assert edge.at(text, len(text)) & bit
        assert not edge.at(f"{text}z", len(text) + 1) or number < 200
    assert len(edge._answers) <= 50
    assert edge._automaton is not None
    assert len(edge._automaton._states) <= 20
