"""What a word is, and how stores spell it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from intel.words import encode_word, encoded_words, words
from tests.cases import each


@each(
    ("text", "expected"),
    [
        ("Evil-Corp.example", ["evil", "corp", "example"]),
        ("snake_case CVE-2024-1234", ["snake", "case", "cve", "2024", "1234"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("ﬁle ２４", ["file", "24"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("naïve naive", ["naïve", "naive"]),
        ("分析report東京", ["分", "析", "report", "東", "京"]),
        ("한국 ランサム", ["한", "국", "ラ", "ン", "サ", "ム"]),
        ("вирус ΣΊΣΥΦΟΣ", ["вирус", "σίσυφοσ"]),
        ("o'neil", ["o", "neil"]),
        (" \u202e\u0301 💩 ?! __ ", []),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_and_digits(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_word_is_encoded_in_plain_characters() -> None:
    assert encode_word("evil2024") == "evil2024"
    assert encode_word("münchen") == "m_0000fcnchen"
    assert encode_word("分") == "_005206"
    assert encoded_words("Evil 分析!") == "evil _005206 _006790"


def test_a_long_word_is_cut_at_240_characters() -> None:
    assert encode_word("a" * 1000) == "a" * 240
    assert len(encode_word("ü" * 1000)) == 240


@given(st.text(max_size=200))
def test_words_of_words_are_the_same_words(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)


@given(st.text(max_size=100))
def test_encoded_words_are_plain_and_of_one_piece(text: str) -> None:
    for word in words(text):
        assert re.fullmatch(r"[a-z0-9_]{1,240}", encode_word(word))


@given(st.text(min_size=1, max_size=300), st.integers(0, 300))
def test_the_beginning_of_a_word_is_the_beginning_of_its_encoding(text: str, length: int) -> None:
    for word in words(text):
        assert encode_word(word).startswith(encode_word(word[:length]))


@given(st.text(max_size=30), st.text(max_size=30))
def test_different_short_words_have_different_encodings(one: str, two: str) -> None:
    assert (encoded_words(one) == encoded_words(two)) == (words(one) == words(two))


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_plain_text_are_those_of_the_same_text_beside_other_letters(text: str) -> None:
    assert words(f"{text} 分") == [*words(text), "分"]
    assert encoded_words(text) == " ".join(map(encode_word, words(text)))


@given(st.text(max_size=200) | st.text(st.sampled_from("aB1 \n_.“”–…·é\u0301漢・ﬁ\u2028"), max_size=60))
def test_words_of_lines_are_those_of_one_line(text: str) -> None:
    # Of a line with such a letter one pattern tells the words.
    assert [*words(text), "é"] == words(f"{text.replace(chr(10), ' ')} é")
