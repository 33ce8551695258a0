"""Cuts a stretch of a text at white space: in C where `scripts/install` met a compiler, else as fast as Python can."""

from __future__ import annotations

from typing import ClassVar, Final

try:
    from ingest.indicators import _cutting
except ImportError:
    _cutting = None  # type: ignore[assignment]

# Where in a text a token begins, and itself. (A tuple, for there are many.)
Place = tuple[int, str]

_NEAR: Final = 500


class PythonCut:
    """The different `tokens` of `text[start:end]`, in order of first appearance."""

    # What is held of a text at one time stays small: here every appearance of a token is a string of its own.
    STRETCH: ClassVar = 1_000_000

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._start, self._end = text, start, end
        self._appearances = (text if end - start == len(text) else text[start:end]).split()
        self.tokens = list(dict.fromkeys(self._appearances))

    def places(self, wanted: set[str], unsure: set[str]) -> list[Place]:
        """Where each of the `wanted` tokens stands, in order; `unsure`: those that others may hold which are not.

        What holds one of the others is wanted itself, so that the next to be seen is the one that is sought.
        """
        text, begin, end = self._text, self._start, self._end
        places: list[Place] = []
        find = text.find
        position = begin
        for token in filter(wanted.__contains__, self._appearances):
            start = find(token, position, position + _NEAR)
            if start < 0:
                start = find(token, position)
            position = start + len(token)
            if token in unsure:
                while text[max(begin, start - 1) : start].strip() or text[position : min(end, position + 1)].strip():
                    start = text.index(token, start + 1)
                    position = start + len(token)
            places.append((start, token))
        return places


class CompiledCut:
    """The same, faster; an appearance is held in 8 bytes."""

    STRETCH: ClassVar = 4_000_000

    def __init__(self, text: str, start: int, end: int) -> None:
        self._start = start
        self.tokens, self._appearances = _cutting.cut(text, start, end)

    def places(self, wanted: set[str], _: set[str]) -> list[Place]:
        return _cutting.places(self.tokens, self._appearances, wanted, self._start)


Cut: Final[type[PythonCut] | type[CompiledCut]] = PythonCut if _cutting is None else CompiledCut
