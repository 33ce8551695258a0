"""What a search that found nothing may have meant."""

from __future__ import annotations

import time
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from intel.query import SearchText, parse_search
from intel.suggestions import MOST_SUGGESTIONS, Vocabulary, distance, suggested
from tests.cases import each

STORED = ["Kestrel Weekly", "Harbour thieves strike again", "Überfall in Málaga", "分析 Times"]


def parsed(q: str) -> SearchText:
    found = parse_search(q)
    assert found is not None
    return found


def suggestions(q: str, stored: list[str] | None = None) -> tuple[str, ...]:
    return suggested(parsed(q), Vocabulary.of(STORED if stored is None else stored))


@each(
    ("q", "meant"),
    [
        ("Emotett", "Emotet"),
        ("emotte", "Emotet"),
        ("eMOTE", "Emotet"),
        ("qackbot", "QakBot"),
        ("colbalt strike", "Cobalt Strike"),
        ("lokbit", "LockBit"),
        ("spearfishing link", "Spearphishing Link"),
        ("kestral", "kestrel"),
        ("malaga", "málaga"),
        ("uberfall", "überfall"),
        ("harbor theives", "harbour thieves"),
        ('"in town" kestral', 'kestrel "in town"'),
    ],
)
def test_a_misspelt_word_is_put_right(q: str, meant: str) -> None:
    assert suggestions(q)[0].split() == meant.split() or set(suggestions(q)[0].split()) == set(meant.split())


@each("q", ["Emotet", "evil.tset", "198.51.100.7", "emot*", "zzzzzzzz", "ab", "??", "分析", "a" * 512])
def test_what_is_right_short_or_far_from_everything_is_left_alone(q: str) -> None:
    assert suggestions(q) == ()


def test_the_nearest_come_first_and_always_in_the_same_order() -> None:
    found = suggestions("loadr", ["Loader", "load", "road", "loads"])
    assert found == suggestions("loadr", ["loads", "road", "load", "Loader"])
    assert found[:3] == ("load", "loader", "loads")
    assert len(found) <= MOST_SUGGESTIONS


@each(
    ("one", "other", "far"),
    [
        ("emotet", "emotet", 0),
        ("emotet", "emotett", 1),
        ("emotet", "emtoet", 1),
        ("emotet", "emoted", 1),
        ("emotet", "motet", 1),
        ("emotet", "mtoet", 2),
        ("abcd", "badc", 2),
        ("kitten", "sitting", 3),
        ("abcdef", "uvwxyz", 6),
        ("abc", "cab", 2),
        ("", "ab", 2),
    ],
)
def test_a_distance_counts_letters_put_in_left_out_changed_or_swapped(one: str, other: str, far: int) -> None:
    assert distance(one, other) == distance(other, one) == far


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_a_distance_is_what_the_table_of_all_beginnings_gives(one: str, other: str) -> None:
    table = {(-1, -1): 0} | {(i, -1): i + 1 for i in range(len(one))} | {(-1, j): j + 1 for j in range(len(other))}
    for i, j in product(range(len(one)), range(len(other))):
        ways = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (one[i] != other[j])]
        if i and j and one[i] == other[j - 1] and one[i - 1] == other[j]:
            ways.append(table[i - 2, j - 2] + 1)
        table[i, j] = min(ways)
    assert distance(one, other) == table[len(one) - 1, len(other) - 1]


def test_suggestions_are_quick() -> None:
    vocabulary = Vocabulary.of([f"word{n:05}" for n in range(5_000)])
    suggested(parsed("warmed up"), vocabulary)
    started = time.process_time()
    suggested(parsed("wrod01234 wrod04321 emotett colbalt"), vocabulary)
    assert time.process_time() - started < 0.5
