"""What was learned from labelled texts speaks of values that no other row settles, and of them alone."""

from __future__ import annotations

from importlib.resources import files

import pytest

from ingest.indicators import document_from_text, extract
from ingest.indicators.evidence import EVIDENCE
from ingest.indicators.learned import TABLE, TextWords, features
from ingest.indicators.token_candidate import TokenCandidate
from tests.ingest.indicators.snippets import ARTICLE

RULES = ("reads like an indicator", "reads like a mention")


def learned_of(text: str, value: str) -> list[int]:
    """Return the points of what was learned about a value of an article."""
    of_it = [each for each in extract(document_from_text(f"{ARTICLE}\n{text}\n")).candidates() if each.value == value]
    return [points for each in of_it for points, rule in each.evidence if rule in RULES]


def seen(text: str, value: str, type: str = "domain") -> dict[str, float]:
    """Return what is seen of a value in a text."""
    start, end = text.index(value), text.index(value) + len(value)
    return dict(features(TextWords(text), (TokenCandidate(type, value, start, end), start, end), []))


def test_the_table_is_a_whole_number_and_a_name_a_line_each_name_once() -> None:
    lines = (files("ingest.indicators") / "data" / TABLE).read_text("utf-8").splitlines()
    names = [name for _, _, name in (line.partition(" ") for line in lines)]
    assert len(set(names)) == len(names) > 1_000
    assert all(abs(int(line.partition(" ")[0])) < 5_000 for line in lines)


@pytest.mark.parametrize(
    ("text", "value", "is_for"),
    [
        ("The SMS brings them to gale-post.top/pay, a copy of our login.", "gale-post.top", True),
        ("More on our page at gale.org, as always.", "gale.org", False),
    ],
)
def test_words_beside_a_value_and_its_name_speak_for_or_against_it(text: str, value: str, is_for: bool) -> None:
    (points,) = learned_of(text, value)
    assert (points > 0) == is_for
    assert EVIDENCE[RULES[1]][0] <= points <= EVIDENCE[RULES[0]][0]


def test_what_another_row_says_outright_is_left_to_it() -> None:
    assert learned_of("Thanks to gale-post.top for the help, the SMS leads to a login.", "gale-post.top") == []


def test_words_of_other_lines_are_not_beside_a_value() -> None:
    names = seen("Head\n\nalpha beta zeta gale.org gamma\ndelta", "gale.org")
    assert {"l:alpha", "l0:zeta", "r0:gamma", "ll:alpha beta", "ending:org", "p:gale"} <= names.keys()
    assert not {"r:delta", "l:head"} & names.keys()


def test_what_is_written_without_spaces_is_seen_in_pairs_of_signs() -> None:
    assert {"l:钓鱼", "l0:网站"} <= seen("钓鱼网站 gale.org", "gale.org").keys()
