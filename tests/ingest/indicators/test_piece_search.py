"""Every piece is found wherever it stands, as a search for each alone would find it."""

from __future__ import annotations

import random

import pytest

from ingest.indicators import piece_search
from ingest.indicators.piece_search import NamePlaces, PieceSearch, in_small_letters
from intel.refanging import places_of
from tests.cases import each

PIECES = ("we call", "call", " call", "називаємо", "aa", "a", "命名为", "we call")


def found_one_by_one(text: str) -> dict[str, list[int]]:
    return {piece: places for piece in PIECES if (places := list(places_of(text, piece)))}


@each("text", ["", "aaaa", "we call it", "\ud800 we call", "ми називаємо, 命名为 \U0001f600 a call", "nothing"])
def test_pieces_are_found_where_they_stand_also_where_they_overlap(text: str) -> None:
    assert PieceSearch(PIECES).places(text) == found_one_by_one(text)
    assert PieceSearch(PIECES).standing_in(text) == set(found_one_by_one(text))


def test_a_long_text_is_read_in_stretches_and_nothing_at_their_edges_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_search, "STRETCH", 7)
    text = "".join(random.Random(3).choices(("we call", " ", "a", "x", "命名为", "命名"), k=300))
    assert PieceSearch(PIECES).places(text) == found_one_by_one(text)


def test_no_pieces_stand_nowhere() -> None:
    assert PieceSearch(()).places("a") == {}


def test_many_pieces_are_found_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_search, "MOST_IN_A_TABLE", 2)
    text = "".join(random.Random(4).choices(("we call", " ", "a", "x", "命名为", "命名"), k=300))
    assert PieceSearch(PIECES).places(text) == found_one_by_one(text)


def test_in_small_letters_each_letter_stands_where_it_stood() -> None:
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x30000)]))
    small = in_small_letters(every)
    assert len(small) == len(every)
    assert small[every.index("R")] == "r"


@each("names", [["Gale", " gale", "ale"], ["Gale", "G\ud800ale"]])
def test_names_are_found_in_a_long_text_where_they_are_found_in_a_short_one(
    names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(random.Random(5).choices(("Gale", " gale", "G\ud800ale", "x", " "), k=300))
    in_short = {name: list(NamePlaces(text, names).of(name)) for name in names}
    monkeypatch.setattr(piece_search, "_WORTH_A_SEARCH", 0)
    assert {name: list(NamePlaces(text, names).of(name)) for name in names} == in_short
    assert all(in_short.values())
