"""The sentence kept beside an indicator."""

from __future__ import annotations

from ingest.indicators.sentences import LONGEST_CONTEXT, sentence


def test_a_long_line_is_cut_between_words() -> None:
    text = "Recently, " * 60 + "evil.example " + "afterwards, " * 60
    start = text.index("evil")
    found = sentence(text, start, start + len("evil.example"))
    assert "evil.example" in found and len(found) <= LONGEST_CONTEXT
    assert set(found.split()) == {"Recently,", "evil.example", "afterwards,"}


def test_a_line_without_blanks_keeps_what_it_is_about() -> None:
    text = "x" * 500 + "/evil.example/" + "y" * 500
    start = text.index("evil")
    assert "evil.example" in sentence(text, start, start + len("evil.example"))
