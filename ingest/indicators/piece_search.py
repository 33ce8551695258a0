"""Find where any of many pieces stand in a text, in one pass over it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from ahocorasick_rs import AhoCorasick, Implementation

from intel.refanging import places_of

# Of more pieces, the table that is searched fastest takes longer to make than most texts to read.
MOST_IN_A_TABLE: Final = 400
STRETCH: Final = 1_000_000  # characters: what is held of the places at one time stays small

# To look for many names at once pays in a long text: to make the search takes longer than to look through a short one.
_WORTH_A_SEARCH: Final = 1_000_000  # characters, those of the text counted once for each name

# Half of a pair of surrogates, which no piece of a search may have.
_HALF: Final = re.compile("[\ud800-\udfff]")

# The first has two signs as a small letter.
_TAKEN_FOR: Final = {"\u0130": "i", "\u0131": "i", "\u017f": "s"}
# From here on letters are of scripts that write no blanks between words.
_WITHOUT_BLANKS: Final = "\u3000"

Places = Mapping[str, Sequence[int]]


class PieceSearch:
    """Pieces of text that are looked for all at once: what that takes does not grow with their number."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = sorted(set(pieces))
        self._longest = max(map(len, self._pieces), default=1)

    @cached_property
    def _automaton(self) -> AhoCorasick:
        is_small = len(self._pieces) <= MOST_IN_A_TABLE
        return AhoCorasick(
            self._pieces, implementation=Implementation.DFA if is_small else Implementation.ContiguousNFA
        )

    def places(self, text: str) -> dict[str, list[int]]:
        """Return for each piece that stands in a text where it begins, in order, also where pieces overlap."""
        places: dict[str, list[int]] = {}
        for first in range(0, len(text), STRETCH):
            is_all = len(text) <= STRETCH
            stretch = text if is_all else text[first : first + STRETCH + self._longest - 1]
            for number, start, _ in self._found(stretch):
                if start < STRETCH:
                    places.setdefault(self._pieces[number], []).append(first + start)
        return places

    def standing_in(self, text: str) -> set[str]:
        """Return the pieces that stand in a text."""
        found = self._found(text)
        return {self._pieces[number] for number, _, _ in found} if found else set()

    def stands_in(self, text: str) -> bool:
        """Tell whether any of the pieces stands in a text."""
        return bool(self._found(text))

    def _found(self, text: str) -> list[tuple[int, int, int]]:
        try:
            return self._automaton.find_matches_as_indexes(text, overlapping=True)
        except UnicodeEncodeError:  # half of a pair of surrogates, which no piece has
            return self._automaton.find_matches_as_indexes(text.encode("utf-8", "replace").decode(), overlapping=True)


class NamePlaces:
    """Where names begin in one text."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._text = text
        is_long = len(text) * len(names) > _WORTH_A_SEARCH
        self._found = PieceSearch(names).places(text) if is_long and not any(map(_HALF.search, names)) else None

    def of(self, name: str) -> Iterable[int]:
        """Return where one of the names begins, in order."""
        return places_of(self._text, name) if self._found is None else self._found.get(name, ())


def in_small_letters(text: str) -> str:
    """Return a text in small letters, each where it stood, with `i` and `s` for those that a pattern blind to case
    takes for them.
    """
    for letter, small in _TAKEN_FOR.items():
        text = text.replace(letter, small)
    return text.lower()


def start_of_word(text: str, place: int) -> int:
    """Return where the word begins in which a piece of it stands, at most 12 letters before it."""
    start = place
    first = place if text[place] >= _WITHOUT_BLANKS else max(0, place - 12)
    while start > first and text[start - 1].isalpha() and text[start - 1] < _WITHOUT_BLANKS:
        start -= 1
    return start
