"""Try a pattern only where one of the pieces of text stands that each of its matches needs."""

from __future__ import annotations

import re
import sys
from functools import cached_property
from typing import Final

from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.required_pieces import required_pieces

# To find out what a pattern needs takes as long as to try it often, and most texts are short.
_TIMES_TRIED: Final = 16
# Quotes, dashes, bullets and the marks of what was defanged are no letters.
_OTHER_LETTER: Final = re.compile(r"[^\x00-\x7f\xa0\xab\xbb\u2000-\u206f\ue000-\uf8ff]")


class Gated:
    """A pattern that is dear to try and seldom matches; what it needs is found out when it has been tried a few
    times.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._times = 0

    @property
    def pattern(self) -> str:
        """The pattern as it is written."""
        return self._pattern.pattern

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match in `text[start:end]`, as the pattern itself does."""
        if self._times < _TIMES_TRIED:
            self._times += 1
        elif self._needed is not None:
            asked = text[start:end]
            if _is_in_ascii(asked) and not self._needed.stands_in(asked.lower()):
                return None
        return self._pattern.search(text, start, end)

    @cached_property
    def _needed(self) -> PieceSearch | None:
        pieces = [piece.lower() for piece in required_pieces(self._pattern.pattern)]
        return PieceSearch(pieces) if pieces else None


def _is_in_ascii(text: str) -> bool:
    """Tell whether a text has no letter beyond ASCII: such a letter may be another one for a pattern blind to case."""
    return text.isascii() or _OTHER_LETTER.search(text) is None
