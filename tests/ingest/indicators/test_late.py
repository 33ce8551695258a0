"""A pattern that is compiled late answers as one that was compiled at once."""

from __future__ import annotations

import re

import pytest

from ingest.indicators.late import late
from tests.cases import each

PATTERN = r"(?P<name>[a-z]+)-(\d{2})"


@each("method", ["search", "match", "fullmatch", "findall", "split"])
@each("text", ["gale-07", "Gale-07 and tide-42", "", "gale-7"])
def test_every_answer_is_that_of_the_pattern(method: str, text: str) -> None:
    expected = getattr(re.compile(PATTERN, re.IGNORECASE), method)(text)
    asked = late(PATTERN, re.IGNORECASE)
    for _ in range(2):
        found = getattr(asked, method)(text)
        assert repr(found) == repr(expected)


def test_a_pattern_tells_what_it_is_made_of_without_being_compiled() -> None:
    assert late("(").pattern == "("


def test_a_mistake_in_a_pattern_shows_with_the_first_question() -> None:
    with pytest.raises(re.error):
        late("(").search("")
