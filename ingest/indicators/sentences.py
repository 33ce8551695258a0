"""Find the line and the sentences around a position without ever looking far."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final

LONGEST_LINE: Final = 400
LONGEST_CONTEXT: Final = 300
CUT: Final = "\u2026"
LONGEST_END: Final = 3  # characters of a sentence's end: `." `

# What a text itself writes where words are left out.
_CUTS: Final = (CUT, "...")
# One class of characters comes first: that is what the engine skips to at full speed.
_SENTENCE_END: Final = re.compile(r"[\n.!?](?:(?<=\n)|[\"')\]\u201d]?\s)")


def line_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the line that holds `start:end`; of a long one a stretch of it, the same for all places in its middle."""
    lowest = max(0, start - start % LONGEST_LINE - LONGEST_LINE)
    first = text.rfind("\n", lowest, start) + 1 or lowest
    highest = end - end % LONGEST_LINE + 2 * LONGEST_LINE
    last = text.find("\n", end, highest)
    return first, last if last >= 0 else min(len(text), highest)


class Sentences:
    """The sentences of one text; where all of them end is looked for once, when it is first asked."""

    def __init__(self, text: str) -> None:
        self._text = text

    def sentence(self, start: int, end: int) -> str:
        """Return the sentence around `start:end` in one line of at most 300 characters, with `…` where it is cut."""
        text = self._text
        room = max(0, LONGEST_CONTEXT - 2 * len(CUT) - (end - start)) // 2
        lowest, highest = max(0, start - room), min(len(text), end + room)
        # The line first: a plain search is what runs fastest, and most indicators stand on a line of their own.
        line_start, line_end = text.rfind("\n", lowest, start) + 1, text.find("\n", end, highest) + 1
        first, last = line_start or _word_start(text, lowest, start), line_end or _word_end(text, end, highest)
        cut_before = not line_start and first > 0 and text[first - 1] != "\n"
        cut_behind = not line_end and last < len(text) and text[last] != "\n"
        if start - first > 1:
            for ended in _SENTENCE_END.finditer(text, max(0, first - LONGEST_END), start):
                if ended.end() >= first:
                    first, cut_before = ended.end(), False
        if last - end > 1:
            for ended in _SENTENCE_END.finditer(text, max(first, end - LONGEST_END), last + LONGEST_END):
                if ended.end() > end:
                    cut_behind = cut_behind and bool(text[last : ended.end()].strip())
                    last = min(last, ended.end())
                    break
        return _with_cuts(" ".join(text[first:last].split()), cut_before, cut_behind)

    def start(self, position: int, count: int) -> int:
        """Return where the sentence `count - 1` before the one of `position` begins, at most 400 characters each."""
        window = max(0, position - LONGEST_LINE * count)
        index = bisect_right(self._ends, position) - count
        return max(window, self._ends[index]) if index >= 0 else window

    def end(self, position: int, count: int) -> int:
        """Return where the sentence `count - 1` after the one of `position` ends."""
        limit = min(len(self._text), position + LONGEST_LINE * count)
        index = bisect_right(self._ends, position) + count - 1
        return min(limit, self._ends[index]) if index < len(self._ends) else limit

    @cached_property
    def _ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self._text)]


def shortened(text: str) -> str:
    """Return a text in one line of at most 300 characters, with `…` in place of the words beyond."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_CONTEXT:
        return line
    return _with_cuts(line[: _word_end(line, 0, LONGEST_CONTEXT - 2 * len(CUT))].rstrip(), False, True)


def _with_cuts(line: str, cut_before: bool, cut_behind: bool) -> str:
    if len(line) > LONGEST_CONTEXT - (cut_before + cut_behind) * len(CUT):
        line, cut_behind = line[: LONGEST_CONTEXT - 2 * len(CUT)], True
    before = CUT if cut_before and not line.startswith(_CUTS) else ""
    return before + line + (CUT if cut_behind and not line.endswith(_CUTS) else "")


def _word_start(text: str, position: int, limit: int) -> int:
    """Return the first position from `position` to `limit` at which no word is cut in two."""
    while 0 < position < limit and not text[position - 1].isspace():
        position += 1
    return position


def _word_end(text: str, limit: int, position: int) -> int:
    """Return the last position from `limit` to `position` at which no word is cut in two."""
    while limit < position < len(text) and not text[position].isspace():
        position -= 1
    return position


def sentence(text: str, start: int, end: int) -> str:
    """Return the sentence around `start:end` of a text of which nothing else is asked."""
    window = max(0, start - LONGEST_LINE)
    return Sentences(text[window : end + LONGEST_LINE]).sentence(start - window, end - window)
