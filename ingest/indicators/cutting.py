"""Cut a text into tokens or lines, as fast as Python can."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import filterfalse
from typing import ClassVar, Final

# Where in a text a token or line begins, and itself. (A tuple, for there are many.)
Place = tuple[int, str]

_NEAR: Final = 500
_SPACE: Final = re.compile(r"\s")


class Cut:
    """The different `tokens` of `text[start:end]` in order of first appearance, cut at white space or a `separator`.

    Those in `without` are left out: to ask that of each appearance costs less than to find the different ones first.
    """

    # What is held of a text at one time stays small: every appearance of a token is a string of its own.
    STRETCH: ClassVar = 1_000_000

    def __init__(
        self, text: str, start: int, end: int, separator: str | None = None, without: Set[str] = frozenset()
    ) -> None:
        self._text, self._start, self._end, self._separator = text, start, end, separator
        stretch = text if end - start == len(text) else text[start:end]
        pieces = filter(None, stretch.split(separator)) if separator else stretch.split()
        self._appearances = list(filterfalse(without.__contains__, pieces))
        self.tokens = list(dict.fromkeys(self._appearances))

    def places(self, wanted: set[str], unsure: set[str]) -> list[Place]:
        """Return where each of the `wanted` tokens stands, in order; `unsure`: those that others may hold which are
        not.

        What holds one of the others is wanted itself, so that the next to be seen is the one that is sought.
        """
        text, begin, end, separator = self._text, self._start, self._end, self._separator
        places: list[Place] = []
        find = text.find
        position = begin
        for token in filter(wanted.__contains__, self._appearances):
            start = find(token, position, position + _NEAR)
            if start < 0:
                start = find(token, position)
            position = start + len(token)
            if token in unsure:
                while (start > begin and text[start - 1].strip(separator)) or (
                    position < end and text[position].strip(separator)
                ):
                    start = text.index(token, start + 1)
                    position = start + len(token)
            places.append((start, token))
        return places


def cuts(text: str, separator: str | None = None, without: Set[str] = frozenset()) -> Iterator[Cut]:
    """Yield a text in stretches of some megabytes, each cut: what is held of it at one time stays small."""
    start = 0
    while start < len(text):
        least = start + Cut.STRETCH
        if separator:
            end = text.find(separator, least)
        else:
            end = space.start() if (space := _SPACE.search(text, least)) else -1
        end = end if end >= 0 else len(text)
        yield Cut(text, start, end, separator, without)
        start = end
