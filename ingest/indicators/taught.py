"""Recognise hosts that a text shows twice on a line, as they are and defanged, to teach how one defangs."""

from __future__ import annotations

import re
from typing import Final

from ingest.indicators.text_context import Line
from ingest.indicators.vocabulary import pieces
from intel.refanging import MARKS, without_marks

TAUGHT: Final = "shown to teach defanging"

_TEACHING: Final = re.compile(pieces("teaching"))
_MARKED: Final = re.compile(f"[{MARKS}]")
_SCHEME: Final = re.compile(r"(?i)\bh[xt]{2}(ps?)(?=:)")
_REACH: Final = 600


class TaughtSpellings:
    """Answers whether a value of one text is an example of defanging."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._teaches = _MARKED.search(text) is not None and _TEACHING.search(text.lower()) is not None
        self._answers: dict[tuple[int, str], bool] = {}

    def show(self, value: str, line: Line) -> bool:
        """Tell whether the line of a value holds it both defanged and not, in or below words that teach defanging."""
        if not self._teaches:
            return False
        key = line.start, value
        if key not in self._answers:
            self._answers[key] = self._shows(value, line)
        return self._answers[key]

    def _shows(self, value: str, line: Line) -> bool:
        said = self._text[line.start : line.end]
        host = value.partition("://")[2] or value
        plainly = _SCHEME.sub(r"htt\1", without_marks(said)).lower()
        if said.lower().count(host.lower()) != 1 or plainly.count(host.lower()) < 2:
            return False
        return _TEACHING.search(self._text[max(0, line.start - _REACH) : line.end + _REACH // 4].lower()) is not None
