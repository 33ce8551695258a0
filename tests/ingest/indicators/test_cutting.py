"""A text is cut into tokens and lines, and each is found again where it stands."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.indicators.cutting import Cut, Place, cuts

# White space of every kind, characters of one, two and four bytes, and halves of such.
SIGNS = st.sampled_from(" \t\n\x1c\x85\xa0\u2003\u3000aab.[]0\0\xe9\ue001\u6f22\U0001f600\ud800")


def cut_by_pattern(text: str, start: int, end: int, separator: str | None) -> list[Place]:
    pattern = re.compile(f"[^{separator}]+" if separator else r"\S+")
    return [(match.start(), match[0]) for match in pattern.finditer(text, start, end)]


@given(
    text=st.text(SIGNS, max_size=60),
    bounds=st.tuples(st.integers(0, 60), st.integers(0, 60)),
    separator=st.sampled_from([None, "\n", "\u6f22"]),
    chosen=st.integers(0),
)
def test_tokens_are_what_is_parted_and_stand_where_they_are_said_to(
    text: str, bounds: tuple[int, int], separator: str | None, chosen: int
) -> None:
    start, end = sorted(min(bound, len(text)) for bound in bounds)
    places = cut_by_pattern(text, start, end, separator)
    made = Cut(text, start, end, separator)
    assert made.tokens == list(dict.fromkeys(token for _, token in places))
    wanted = {token for index, token in enumerate(made.tokens) if chosen >> index & 1}
    assert made.places(wanted, wanted) == [(place, token) for place, token in places if token in wanted]


def test_many_tokens_are_told_apart() -> None:
    tokens = [f"{number:x}" for number in range(50_000)]
    text = " ".join([*tokens, *tokens])
    made = Cut(text, 0, len(text))
    assert made.tokens == tokens
    assert made.places({"0", "c34f"}, {"0", "c34f"}) == [
        (match.start(), match[0]) for match in re.finditer(r"(?<!\S)(?:0|c34f)(?!\S)", text)
    ]


@pytest.mark.parametrize("separator", [None, "\n"])
def test_a_long_text_is_cut_in_stretches_that_end_where_something_parts(
    monkeypatch: pytest.MonkeyPatch, separator: str | None
) -> None:
    monkeypatch.setattr(Cut, "STRETCH", 10)
    text = "one two\nthree four five\n\nsix seven eight\nnine"
    found = [place for made in cuts(text, separator) for place in made.places(set(made.tokens), set(made.tokens))]
    assert found == cut_by_pattern(text, 0, len(text), separator)
