"""What a pattern needs is told from the pattern, and to look for that first changes no answer."""

from __future__ import annotations

import re

import pytest

from ingest.indicators.contexts import Context, context_rules, said_of
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.spoken import Spoken
from ingest.indicators.vocabulary import table
from tests.cases import each
from tests.ingest.indicators.labelled import labelled
from tests.ingest.indicators.test_snippets import ALL

AT_THE_END = r"[\s:]{0,4}\Z"


@each(
    ("pattern", "pieces"),
    [
        (r"legit(?:imate)?|be?nign", {"legit", "benign", "bnign"}),
        (r"(?:a|the) (?:key|iv)\d", {"a key", "a iv", "the key", "the iv"}),
        (r"\bkey[\"']?\s?=\s?hex(?=\w)", {"hex"}),
        (r"x?\w*(?:token){1,3}", {"token"}),
        (r"[ab]c|d[ef]", {"ac", "bc", "de", "df"}),
        (r"(?>ab)|c(?:d|e)", {"ab", "cd", "ce"}),
        (r"(?!no)(?<=x)yes", {"yes"}),
        (r"token|\d+", set()),
        (r"a|", set()),
        (r"[^a]|b", set()),
    ],
)
def test_each_match_of_a_pattern_holds_one_of_its_pieces(pattern: str, pieces: set[str]) -> None:
    assert required_pieces(pattern) == pieces


@pytest.mark.slow
@each("path", [("harmless", "after"), ("harmless", "before"), ("no_sample",), ("no_sample_after",)])
@each("end", ["", AT_THE_END])
def test_what_is_looked_for_by_its_pieces_is_found_where_its_pattern_finds_it(path: tuple[str, ...], end: str) -> None:
    by_language = table(*path)
    spoken = Spoken(by_language, end)
    plain = re.compile("|".join(f"(?:{pattern}){end}" for pattern in by_language.values()))
    texts = [snippet.text for snippet in ALL] + [item.text for item in labelled("reports")]
    lines = {line for text in texts for line in text.lower().split("\n")}
    lines |= {piece for line in lines for piece in re.split(r"(?<=\W)(?=[0-9a-f]{32})", line)}
    assert len(lines) > 1000
    for line in lines:
        assert spoken.search(line) == (plain.search(line) is not None), line


def test_rules_that_are_looked_for_all_at_once_speak_as_each_does_alone() -> None:
    spoke = 0
    for example in context_rules():
        for text in (example.example, example.counterexample):
            line = text.lower().replace("'", "\u2019")
            before, _, after = line.partition(example.value.lower())
            context = Context(before, after, line)
            expected = [
                (rule.points, rule.id)
                for rule in context_rules()
                if not rule.types.isdisjoint(example.types)
                and (
                    (rule.before and rule.before.search(before))
                    or (rule.after and rule.after.match(after))
                    or (rule.line and rule.line.search(line))
                )
            ]
            found = [entry for type in example.types for entry in said_of(type, context)]
            assert set(found) == set(expected), text
            spoke += len(expected)
    assert spoke > len(context_rules())


def test_all_that_teaches_needs_a_piece() -> None:
    assert all(map(required_pieces, table("teaching", "pieces").values()))
