"""A pattern behind a gate finds what it finds alone, however often it was tried before."""

from __future__ import annotations

import re

from ingest.indicators.gated import Gated
from tests.cases import each
from tests.ingest.indicators.labelled import labelled
from tests.ingest.indicators.test_snippets import ALL

TEXTS = [snippet.text for snippet in ALL] + [
    line for item in labelled("reports") for line in item.text.split("\n") if line
]


@each(
    "pattern",
    [
        r"(?i)\b(?:ransomware|malware|loaders?)\b|木马",
        r"\b(?:(?i:curl|wget)[ \t]+|(?:GET|POST) )\S",
        r"(?i)sha-?256",
        r"[0-9]{4}",
        r"(?<=a)b",
    ],
)
def test_a_gate_changes_no_answer(pattern: str) -> None:
    plain = re.compile(pattern)
    gated = Gated(plain)
    assert len(TEXTS) > 1000
    for text in TEXTS:
        for start, end in ((0, len(text)), (3, 40)):
            found, expected = gated.search(text, start, end), plain.search(text, start, end)
            assert (found and found.span()) == (expected and expected.span()), text


def test_a_gate_is_blind_to_no_letter_that_is_another_in_small() -> None:
    plain = re.compile("(?i)shell")
    gated = Gated(plain)
    for text in ["nothing"] * 50 + ["\u017fhell", "\u201cSHELL\u201d", "\u2019s shell", "\u017fhell \u2013"]:
        assert (gated.search(text) is None) == (plain.search(text) is None)
