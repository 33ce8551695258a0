"""Both ways to cut a text give the same, and a text that is read with either holds the same."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.indicators import document_from_text, extract, walking
from ingest.indicators.cutting import CompiledCut, Cut, Place, PythonCut
from tests.ingest.indicators.fuzzing import mutants
from tests.ingest.indicators.test_snippets import ALL

# White space of every kind, characters of one, two and four bytes, and halves of such.
SIGNS = st.sampled_from(" \t\n\x1c\x85\xa0\u2003\u3000aab.[]0\0\xe9\ue001\u6f22\U0001f600\ud800")
CUTS = [
    PythonCut,
    pytest.param(CompiledCut, marks=pytest.mark.skipif(Cut is PythonCut, reason="no compiler made the other one")),
]


def cut_by_pattern(text: str, start: int, end: int) -> list[Place]:
    return [(match.start(), match[0]) for match in re.compile(r"\S+").finditer(text, start, end)]


@pytest.mark.parametrize("cut", CUTS)
@given(
    text=st.text(SIGNS, max_size=60), chosen=st.integers(0), bounds=st.tuples(st.integers(0, 60), st.integers(0, 60))
)
def test_tokens_are_what_white_space_parts_and_stand_where_they_are_said_to(
    cut: type[PythonCut | CompiledCut], text: str, chosen: int, bounds: tuple[int, int]
) -> None:
    start, end = sorted(min(bound, len(text)) for bound in bounds)
    places = cut_by_pattern(text, start, end)
    made = cut(text, start, end)
    assert made.tokens == list(dict.fromkeys(token for _, token in places))
    wanted = {token for index, token in enumerate(made.tokens) if chosen >> index & 1}
    assert made.places(wanted, wanted) == [(place, token) for place, token in places if token in wanted]


@pytest.mark.parametrize("cut", CUTS)
def test_many_tokens_are_told_apart(cut: type[PythonCut | CompiledCut]) -> None:
    tokens = [f"{number:x}" for number in range(50_000)]
    text = " ".join([*tokens, *tokens])
    made = cut(text, 0, len(text))
    assert made.tokens == tokens
    assert made.places({"0", "c34f"}, {"0", "c34f"}) == [
        (match.start(), match[0]) for match in re.finditer(r"(?<!\S)(?:0|c34f)(?!\S)", text)
    ]


@pytest.mark.skipif(Cut is PythonCut, reason="no compiler made the other one")
def test_a_stretch_that_is_not_in_the_text_is_refused() -> None:
    for start, end in ((-1, 1), (0, 4), (2, 1)):
        with pytest.raises(ValueError, match="stretch"):
            CompiledCut("abc", start, end)


@pytest.mark.skipif(Cut is PythonCut, reason="no compiler made the other one")
def test_the_same_is_found_with_either(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [snippet.text for snippet in ALL]
    texts += [mutant.decode(errors="replace") for mutant in islice(mutants(7), 300)]
    texts.append("\n".join(texts))
    found = [list(extract(document_from_text(text)).candidates()) for text in texts]
    monkeypatch.setattr(walking, "Cut", PythonCut)
    assert [list(extract(document_from_text(text)).candidates()) for text in texts] == found
