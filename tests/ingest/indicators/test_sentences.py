"""The sentence kept beside an indicator."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.indicators.sentences import LONGEST_CONTEXT, sentence, shortened
from tests.cases import each

VALUE = "evil.example"
AROUND = st.text(alphabet="ab .\n…", max_size=400)


def around(before: str, behind: str) -> str:
    """The sentence of the value between two texts."""
    return sentence(before + VALUE + behind, len(before), len(before) + len(VALUE))


def test_a_long_line_is_cut_between_words_and_says_so_at_both_ends() -> None:
    found = around("Recently, " * 60, " afterwards," * 60)
    assert VALUE in found and len(found) <= LONGEST_CONTEXT
    assert found.startswith("…Recently, ") and found.endswith(" afterwards,…")
    assert set(found.strip("…").split()) == {"Recently,", VALUE, "afterwards,"}


def test_a_line_without_blanks_keeps_what_it_is_about() -> None:
    assert "evil.example" in around("x" * 500 + "/", "/" + "y" * 500)


@each("before", ["", "Earlier. ", "Earlier words\n", "Long before. " * 40, "A long line " * 40 + "\n"])
@each("behind", ["", ". Later.", "\nLater words", " was it. " + "Long after. " * 40])
def test_a_whole_sentence_has_no_ellipsis(before: str, behind: str) -> None:
    found = around(before + "It called ", behind)
    assert found.startswith("It called evil.example") and "…" not in found


def test_an_end_that_is_cut_alone_says_so() -> None:
    assert around("It called ", " again and" * 60).startswith("It called evil.example again")
    assert around("It called ", " again and" * 60).endswith("…")
    assert around("again and " * 60, ".") == "…" + around("again and " * 60, ".").strip("…")


def test_an_ellipsis_of_the_text_itself_is_not_doubled() -> None:
    assert "……" not in around("… " * 300, " …" * 300) and "....…" not in around("... " * 300, " ..." * 300)


@each("length", [297, 298, 299, 300])
def test_a_value_that_fills_its_line_stands_alone(length: int) -> None:
    value = "h" * length
    assert sentence(f"Hosts\n{value}\nMore", 6, 6 + length) == value


@given(AROUND, AROUND)
def test_a_sentence_is_bounded_holds_the_value_and_has_marks_at_its_ends_alone(before: str, behind: str) -> None:
    found = around(before, behind)
    assert VALUE in found and len(found) <= LONGEST_CONTEXT and "\n" not in found
    whole = " ".join((before + VALUE + behind).split())
    assert found in whole or found.strip("…") in whole
    if found in whole and len(whole) <= 100 and "." not in before + behind and "\n" not in before + behind:
        assert found == whole


def test_words_beyond_the_longest_give_way_to_an_ellipsis() -> None:
    assert shortened("a  whole\nremark") == "a whole remark"
    assert shortened("x" * 300) == "x" * 300
    found = shortened("remarked " * 60)
    assert len(found) <= LONGEST_CONTEXT and found.endswith("remarked…")
