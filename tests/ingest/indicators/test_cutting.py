"""Both ways to cut a text give the same, and a text that is read with either holds the same."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.indicators import cutting, document_from_text, extract
from ingest.indicators.cutting import CompiledCut, Cut, Place, PythonCut, cuts
from tests.ingest.indicators.fuzzing import mutants
from tests.ingest.indicators.test_snippets import ALL

# White space of every kind, characters of one, two and four bytes, and halves of such.
SIGNS = st.sampled_from(" \t\n\x1c\x85\xa0\u2003\u3000aab.[]0\0\xe9\ue001\u6f22\U0001f600\ud800")
CUTS = [
    PythonCut,
    pytest.param(CompiledCut, marks=pytest.mark.skipif(Cut is PythonCut, reason="no compiler made the other one")),
]


def cut_by_pattern(text: str, start: int, end: int, separator: str | None) -> list[Place]:
    pattern = re.compile(f"[^{separator}]+" if separator else r"\S+")
    return [(match.start(), match[0]) for match in pattern.finditer(text, start, end)]


@pytest.mark.parametrize("cut", CUTS)
@given(
    text=st.text(SIGNS, max_size=60),
    bounds=st.tuples(st.integers(0, 60), st.integers(0, 60)),
    separator=st.sampled_from([None, "\n", "\u6f22"]),
    chosen=st.integers(0),
)
def test_tokens_are_what_is_parted_and_stand_where_they_are_said_to(
    cut: type[PythonCut | CompiledCut], text: str, bounds: tuple[int, int], separator: str | None, chosen: int
) -> None:
    start, end = sorted(min(bound, len(text)) for bound in bounds)
    places = cut_by_pattern(text, start, end, separator)
    made = cut(text, start, end, separator)
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


@pytest.mark.parametrize("separator", [None, "\n"])
@pytest.mark.parametrize("cut", CUTS)
def test_a_long_text_is_cut_in_stretches_that_end_where_something_parts(
    monkeypatch: pytest.MonkeyPatch, cut: type[PythonCut | CompiledCut], separator: str | None
) -> None:
    monkeypatch.setattr(cut, "STRETCH", 10)
    monkeypatch.setattr(cutting, "Cut", cut)
    text = "one two\nthree four five\n\nsix seven eight\nnine"
    found = [place for made in cuts(text, separator) for place in made.places(set(made.tokens), set(made.tokens))]
    assert found == cut_by_pattern(text, 0, len(text), separator)


@pytest.mark.skipif(Cut is PythonCut, reason="no compiler made the other one")
def test_a_stretch_that_is_not_in_the_text_is_refused() -> None:
    for start, end in ((-1, 1), (0, 4), (2, 1)):
        with pytest.raises(ValueError, match="stretch"):
            CompiledCut("abc", start, end)
    with pytest.raises(ValueError, match="separator"):
        CompiledCut("abc", 0, 3, "ab")


@pytest.mark.skipif(Cut is PythonCut, reason="no compiler made the other one")
def test_the_same_is_found_with_either(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [snippet.text for snippet in ALL]
    texts += [mutant.decode(errors="replace") for mutant in islice(mutants(7), 300)]
    texts.append("\n".join(texts))
    found = [list(extract(document_from_text(text)).candidates()) for text in texts]
    monkeypatch.setattr(cutting, "Cut", PythonCut)
    assert [list(extract(document_from_text(text)).candidates()) for text in texts] == found
