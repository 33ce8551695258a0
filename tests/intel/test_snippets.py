"""Where in an article a search was met."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intel.query import SearchText, parse_search
from intel.snippets import LONGEST_SNIPPET, Snippet, snippets
from tests.cases import each


def parsed(q: str) -> SearchText:
    found = parse_search(q)
    assert found is not None
    return found


def marked(q: str, text: str) -> list[str]:
    """What is highlighted in the piece of a text."""
    found = snippets(parsed(q), [("text", text)])
    return [found[0].text[start:end] for start, end in found[0].highlights] if found else []


@each(
    ("q", "text", "met"),
    [
        ("loader", "A LOADER, an Ｌｏａｄｅｒ and loaders", ["LOADER", "Ｌｏａｄｅｒ"]),
        ("strasse", "In der Straße", ["Straße"]),
        ("éclair", "An e\u0301clair, no eclair", ["e\u0301clair"]),
        ("malaga", "Málaga", []),
        ('"new loader"', "new or loader, a new\nloader", ["new\nloader"]),
        ("harb*", "Harbours and harbour", ["Harbours", "harbour"]),
        ("evil.test", "It asked evil[.]test, hxxp://evil[.]test/a", ["evil[.]test", "evil[.]test"]),
        ('"の分析"', "ランサムウェアの分析", ["の分析"]),
        ("kestrel", "the “Kestrel” group", ["Kestrel"]),
        ("geodo", "Emotet, once Geodo", ["Emotet", "Geodo"]),
        ("loader absent", "a loader", ["loader"]),
        ("??", "what?? nothing", []),
    ],
)
def test_what_is_met_is_marked_by_the_words_of_a_search(q: str, text: str, met: list[str]) -> None:
    assert marked(q, text) == met


def test_each_field_has_one_piece_at_most() -> None:
    fields = [("title", "The loader"), ("summary", "Nothing"), ("text", "loader " * 500)]
    found = snippets(parsed("loader"), fields)
    assert [(one.field, len(one.text) <= LONGEST_SNIPPET) for one in found] == [("title", True), ("text", True)]


def test_the_piece_is_the_one_in_which_the_most_is_met() -> None:
    text = "evil once. " + "Nothing of note here. " * 40 + "Then evil met the loader of banks. " + "More. " * 100
    (one,) = snippets(parsed("evil loader banks"), [("text", text)])
    assert [one.text[start:end] for start, end in one.highlights] == ["evil", "loader", "banks"]
    assert one.text.startswith(("Nothing", "of", "note", "here"))


def test_markup_stays_text() -> None:
    (one,) = snippets(parsed("script"), [("text", "<script>alert(1)</script>")])
    assert one == Snippet("text", "<script>alert(1)</script>", ((1, 7), (18, 24)))


@given(st.text(max_size=400), st.text(min_size=1, max_size=20))
def test_places_are_in_order_and_inside(text: str, q: str) -> None:
    if "\0" in q or (search := parse_search(q)) is None:
        return
    for one in snippets(search, [("text", text)]):
        assert one.text in text
        ends = [bound for span in one.highlights for bound in span]
        assert ends == sorted(ends) and ends[0] >= 0 and ends[-1] <= len(one.text)
        assert all(start < end for start, end in one.highlights)


@pytest.mark.slow
def test_long_texts_are_searched_in_linear_time() -> None:
    for text in ("a " * 500_000, "ü" * 1_000_000, "evil.test " * 100_000, "“" * 1_000_000, "分" * 200_000):
        started = time.process_time()
        snippets(parsed('"a a a" evil.test ü* 分'), [("text", text)])
        snippets(parsed(f'"{"a " * 240}b"'), [("text", text)])
        assert time.process_time() - started < 4


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(["loader", "harbour", "kestrel", "a", "(b)", "の分析", "\n"]), min_size=900, max_size=1_500
    ),
    st.sampled_from(["loader", "loader kestrel", '"harbour loader" kestrel', "kest* loader の分析", "loader absent"]),
    st.integers(0, 4_500),
)
def test_the_beginning_of_a_long_text_tells_the_same_as_all_of_it(names: list[str], q: str, before: int) -> None:
    text = "x " * (before // 2) + " ".join(names)
    found = snippets(parsed(q), [("text", text)])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("intel.snippets._HEAD", len(text) + 1)
        assert snippets(parsed(q), [("text", text)]) == found
