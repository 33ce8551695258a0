"""Recognise hosts that a text shows twice on a line, as they are and defanged, to teach how one defangs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import PieceSearch, in_small_letters
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.sentences import LONGEST_LINE
from ingest.indicators.text_context import TextContext
from ingest.indicators.vocabulary import pieces, table
from intel.refanging import MARKS, without_marks

TAUGHT: Final = "shown to teach defanging"

_TEACHING: Final = late(pieces("teaching"))
_MARKED: Final = re.compile(f"[{MARKS}]")
_REACH: Final = 600
# From a value to the words that teach, on or above its line.
_FARTHEST: Final = 2 * LONGEST_LINE + _REACH
_BOTH: Final = 2


class TaughtHosts:
    """The hosts of one text by which it teaches how one defangs."""

    def __init__(self, context: TextContext) -> None:
        self._around, self._text = context, context.text

    @cached_property
    def _places(self) -> Sequence[int]:
        """Where a piece of what is said to teach stands."""
        if _MARKED.search(self._text) is None:
            return ()
        return sorted(chain.from_iterable(_needed().places(in_small_letters(self._text)).values()))

    @property
    def are_any(self) -> bool:
        """Whether anything in the text may teach."""
        return bool(self._places)

    def hold(self, value: str, start: int, end: int) -> bool:
        """Tell whether the line of a value, which stands at `start:end`, holds it both defanged and not, in or below
        words that teach defanging.
        """
        if not self._may_teach(start - _FARTHEST, end + _FARTHEST):
            return False
        line = self._around.line(start, end)
        text, first, last = self._text, max(0, line.start - _REACH), line.end + _REACH // 4
        if not self._may_teach(first, last):
            return False
        host = (value.partition("://")[2] or value).lower()
        if line.end - line.start < 2 * len(host) or _MARKED.search(text, line.start, line.end) is None:
            return False
        said = text[line.start : line.end].lower()
        if said.count(host) != 1 or without_marks(said).count(host) < _BOTH:
            return False
        return _TEACHING.search(text[first:last].lower()) is not None

    def _may_teach(self, first: int, last: int) -> bool:
        """Tell whether a piece of what is said to teach begins from `first` to `last`."""
        if not self._places:
            return False
        index = bisect_left(self._places, first)
        return index < len(self._places) and self._places[index] < last


@cache
def _needed() -> PieceSearch:
    return PieceSearch(chain.from_iterable(map(required_pieces, table("teaching", "pieces").values())))
