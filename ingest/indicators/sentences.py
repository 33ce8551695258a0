"""Finds the line and the sentences around a position without ever looking far."""

from __future__ import annotations

import re
from typing import Final

LONGEST_LINE: Final = 400
LONGEST_CONTEXT: Final = 300

_SENTENCE_END: Final = re.compile(r"[.!?][\"')\]\u201d]?\s|\n")


def line_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The line that holds `start:end`; of a long one a stretch of it, the same for all places in its middle."""
    lowest = max(0, start - start % LONGEST_LINE - LONGEST_LINE)
    first = text.rfind("\n", lowest, start) + 1 or lowest
    highest = end - end % LONGEST_LINE + 2 * LONGEST_LINE
    last = text.find("\n", end, highest)
    return first, last if last >= 0 else min(len(text), highest)


def sentence(text: str, start: int, end: int) -> str:
    """The sentence around `start:end` in one line of at most 300 characters."""
    first = sentence_start(text, start, 1)
    last = sentence_end(text, end, 1)
    room = max(0, LONGEST_CONTEXT - (end - start)) // 2
    piece = text[max(first, start - room) : min(last, end + room)]
    return " ".join(piece.split())[:LONGEST_CONTEXT]


def sentence_start(text: str, position: int, count: int) -> int:
    """Where the sentence `count - 1` before the one of `position` begins, at most 400 characters a sentence back."""
    window = max(0, position - LONGEST_LINE * count)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, window, position)]
    return ends[-count] if len(ends) >= count else window


def sentence_end(text: str, position: int, count: int) -> int:
    """Where the sentence `count - 1` after the one of `position` ends."""
    limit = min(len(text), position + LONGEST_LINE * count)
    for match in _SENTENCE_END.finditer(text, position, limit):
        count -= 1
        if count == 0:
            return match.end()
    return limit
