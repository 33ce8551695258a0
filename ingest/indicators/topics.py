"""Tell which topics a text may speak of near a place, by one search for the words of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final

from ingest.indicators.piece_search import PieceSearch, in_small_letters

_BLOCK: Final = 6  # bits of a place: places are told apart by blocks of 64 characters
_BLOCKS_BEFORE: Final = 4  # which hold the 200 characters before a place
# Where a question comes on fewer characters than these, to look through the whole text costs less than to ask each.
WORTH_A_SEARCH: Final = 100


class Topics:
    """Topics, each a bit of a number, with the pieces of text of which one stands wherever it is spoken of."""

    def __init__(self, pieces: Callable[[], Mapping[int, Iterable[str]]]) -> None:
        """`pieces`: in small letters; asked for with the first text that is looked through."""
        self._pieces = pieces

    @cached_property
    def _of(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for topic, pieces in self._pieces().items():
            for piece in pieces:
                found[piece] = found.get(piece, 0) | topic
        return found

    @cached_property
    def _search(self) -> PieceSearch:
        return PieceSearch(self._of)

    def around_blocks(self, text: str) -> dict[int, int]:
        """Return for each block of a text the topics of the pieces that begin in it or near it."""
        found: dict[int, int] = {}
        for piece, places in self._search.places(in_small_letters(text)).items():
            topics = self._of[piece]
            for begun in {place >> _BLOCK for place in places}:
                for block in range(begun - 1, begun + _BLOCKS_BEFORE + 1):
                    found[block] = found.get(block, 0) | topics
        return found


class TopicsOfText:
    """The topics of one text; it is looked through as soon as more was asked than that costs."""

    def __init__(self, topics: Topics, text: str) -> None:
        self._topics = topics
        self._text = text
        self._questions_left = len(text) // WORTH_A_SEARCH + 1
        # The same place is asked about time and again.
        self._start, self._end, self._answer = -1, -1, 0

    def may_stand(self, topic: int, start: int, end: int) -> bool:
        """Tell whether what needs a piece of a topic may stand between 200 characters before `start` and 50 behind
        `end`.
        """
        if self._questions_left:
            self._questions_left -= 1
            return True
        if start != self._start or end != self._end:
            self._start, self._end = start, end
            self._answer = self._topics_around(start >> _BLOCK, end >> _BLOCK)
        return bool(self._answer & topic)

    def _topics_around(self, first: int, last: int) -> int:
        around = self._around_blocks.get
        found = around(first, 0) | around(last, 0)
        for block in range(first + _BLOCKS_BEFORE, last, _BLOCKS_BEFORE):
            found |= around(block, 0)
        return found

    @cached_property
    def _around_blocks(self) -> dict[int, int]:
        return self._topics.around_blocks(self._text)
