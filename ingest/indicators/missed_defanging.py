"""Find the lines of a text that hold a defanging which no candidate accounts for; linear, and bounded in number."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import merge
from itertools import accumulate, islice
from typing import Final, NamedTuple

from ingest.indicators.extracting import Extraction
from ingest.indicators.sentences import line_span, sentence
from intel.suffixes import may_end_a_name

MOST_PIECES: Final = 64
MOST_MARKS: Final = 20_000

_SIGN: Final = r"(?:[.:@]|[dD][oO0][tT]|[aA][tT])"
_NOT_IN_A_SCHEME: Final = r"[^\s/:.,;]"
# Each begins with a literal or a plain class, which lets the engine skip to the next one at full speed.
_MARKS: Final = (
    re.compile(rf"[\[({{<]\s?{_SIGN}\s?[\])}}>]|[\[({{](?:[.@]|[dD][oO][tT])(?=\w)"),
    re.compile(r"[\])}](?=\w)(?:(?<=\w[.@].)|(?<=\w[dD][oO][tT].))"),
    re.compile(
        rf"://(?:(?<=[hH]{_NOT_IN_A_SCHEME}{{2}}[pP]://)(?<![tT][tT][pP]://)"
        rf"|(?<=[hH]{_NOT_IN_A_SCHEME}{{2}}[pP][sS]://)(?<![tT][tT][pP][sS]://))"
    ),
)
# What is no way to part a name from its ending: a port, and the ending of a kind of file, such as `(.lnk)`.
_PORT: Final = re.compile(r"[\[({<]\s?:\s?[\])}>]\d{1,5}(?!\w)")
_ENDING: Final = re.compile(r"(?<!\S)[\[({]\.(\w{1,10})[\])}]")


class MissedPiece(NamedTuple):
    """A line, or what of a long one surrounds the mark: at most 2 KB.

    `sentence` is what an analyst reads, `start` its place in the text, `before` how many indicators stand before it.
    """

    text: str
    sentence: str
    start: int
    before: int


def missed_pieces(extraction: Extraction) -> tuple[MissedPiece, ...]:
    """Return the first pieces with a mark of defanging outside of every candidate."""
    text = extraction.document.text
    found: dict[str, MissedPiece] = {}
    starts = [indicator.start for indicator in extraction.indicators]
    end = 0
    for mark in _uncovered(extraction):
        if mark.start() < end:
            continue
        start, end = line_span(text, *mark.span())
        before = bisect_left(starts, mark.start())
        piece = text[start:end]
        found.setdefault(piece, MissedPiece(piece, sentence(text, *mark.span()), start, before))
        if len(found) == MOST_PIECES:
            break
    return tuple(found.values())


def _uncovered(extraction: Extraction) -> Iterator[re.Match[str]]:
    """Yield the marks that no candidate spans."""
    spans = sorted(extraction.spans())
    starts = [start for start, _ in spans]
    farthest = list(accumulate((end for _, end in spans), max))
    text = extraction.document.text
    marks = merge(*(pattern.finditer(text) for pattern in _MARKS), key=re.Match.start)
    for mark in islice(marks, MOST_MARKS):
        index = bisect_right(starts, mark.start()) - 1
        if index >= 0 and farthest[index] >= mark.end():
            continue
        follows_one = index >= 0 and farthest[index] == mark.start()
        if not (follows_one and _PORT.match(text, mark.start())) and not _is_an_ending(text, mark.start()):
            yield mark


def _is_an_ending(text: str, start: int) -> bool:
    """Tell whether a bracket holds the ending of a kind of file, which is no top-level domain."""
    ending = _ENDING.match(text, start)
    return ending is not None and not may_end_a_name(ending[1])
