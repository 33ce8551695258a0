"""Finds the line and the sentences around a position without ever looking far."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final

LONGEST_LINE: Final = 400
LONGEST_CONTEXT: Final = 300

# One class of characters comes first: that is what the engine skips to at full speed.
_SENTENCE_END: Final = re.compile(r"[\n.!?](?:(?<=\n)|[\"')\]\u201d]?\s)")


def line_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The line that holds `start:end`; of a long one a stretch of it, the same for all places in its middle."""
    lowest = max(0, start - start % LONGEST_LINE - LONGEST_LINE)
    first = text.rfind("\n", lowest, start) + 1 or lowest
    highest = end - end % LONGEST_LINE + 2 * LONGEST_LINE
    last = text.find("\n", end, highest)
    return first, last if last >= 0 else min(len(text), highest)


class Sentences:
    """The sentences of one text; where they end is looked for once, when it is first asked."""

    def __init__(self, text: str) -> None:
        self._text = text

    def sentence(self, start: int, end: int) -> str:
        """The sentence around `start:end` in one line of at most 300 characters."""
        ends = self._ends
        room = LONGEST_CONTEXT - (end - start)
        room = room // 2 if room > 0 else 0
        first, last = start - room, end + room
        before = bisect_right(ends, start)
        if before and ends[before - 1] > first:
            first = ends[before - 1]
        after = bisect_right(ends, end, before)
        if after < len(ends) and ends[after] < last:
            last = ends[after]
        piece = self._text[first if first > 0 else 0 : last]
        return " ".join(piece.split())[:LONGEST_CONTEXT]

    def start(self, position: int, count: int) -> int:
        """Where the sentence `count - 1` before the one of `position` begins, at most 400 characters each."""
        window = max(0, position - LONGEST_LINE * count)
        index = bisect_right(self._ends, position) - count
        return max(window, self._ends[index]) if index >= 0 else window

    def end(self, position: int, count: int) -> int:
        """Where the sentence `count - 1` after the one of `position` ends."""
        limit = min(len(self._text), position + LONGEST_LINE * count)
        index = bisect_right(self._ends, position) + count - 1
        return min(limit, self._ends[index]) if index < len(self._ends) else limit

    @cached_property
    def _ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self._text)]


def sentence(text: str, start: int, end: int) -> str:
    """The sentence around `start:end` of a text of which nothing else is asked."""
    window = max(0, start - LONGEST_LINE)
    return Sentences(text[window : end + LONGEST_LINE]).sentence(start - window, end - window)
