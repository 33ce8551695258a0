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
_REACH: Final = 600
_BOTH: Final = 2


def is_taught(text: str, value: str, line: Line) -> bool:
    """Tell whether the line of a value holds it both defanged and not, in or below words that teach defanging."""
    host = (value.partition("://")[2] or value).lower()
    if line.end - line.start < 2 * len(host) or _MARKED.search(text, line.start, line.end) is None:
        return False
    said = text[line.start : line.end].lower()
    if said.count(host) != 1 or without_marks(said).count(host) < _BOTH:
        return False
    return _TEACHING.search(text[max(0, line.start - _REACH) : line.end + _REACH // 4].lower()) is not None
