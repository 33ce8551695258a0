"""Characters that nobody sees."""

from __future__ import annotations

import pytest

from api.models import SubmitBody
from intel.unseen import holds_controls, plain
from tests.cases import each


@each("hidden", ["\u202e", "\u2066", "\u200b", "\ufeff", "\x00", "\x1b", "\U000e0041", "\u061c"])
def test_what_turns_a_line_around_or_hides_in_it_is_taken_out_and_refused(hidden: str) -> None:
    assert plain(f"Evil{hidden}Corp") == "EvilCorp"
    assert holds_controls(f"Evil{hidden}Corp")
    with pytest.raises(ValueError, match="control characters"):
        SubmitBody(url="https://news.example/", source_name=f"News{hidden}txt")


def test_names_of_every_script_stay_as_they_are() -> None:
    for name in (
        "Zeitung für Sicherheit",
        "می\u200cخواهم",
        "नमस्\u200dते",
        "日本語ニュース",
        "\u05d7\u05d3\u05e9\u05d5\u05ea",
    ):
        assert plain(name) == name
        assert not holds_controls(name)
