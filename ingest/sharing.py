"""Marks of the Traffic Light Protocol that keep an article out: what is stored here anybody may read."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from intel.errors import ArticleUnreadable

RESTRICTED: Final = ("tlp:red", "tlp:amber+strict")
# A mark stands in a line of its own, or in a field, at the head of a text.
_HEAD_LINES: Final = 20
_LONGEST_LINE: Final = 80
_MARK: Final = r"tlp\s?[:=]?\s?[\"']?(red|amber\s?\+\s?strict)"
_LINE: Final = re.compile(rf"(?i)[^\w]{{0,10}}(?:[a-z]{{1,20}}[^\w]{{1,3}})?{_MARK}[^\w]{{0,10}}")
_IN_TITLE: Final = re.compile(rf"(?i)[^\w]{{0,10}}{_MARK}\b|.{{0,300}}\[{_MARK}\]")


def refuse_marked(marks: Collection[str]) -> None:
    """Raise ArticleUnreadable (`restricted_sharing`) where one of the marks keeps an article out."""
    if mark := next((one for one in RESTRICTED if one in marks), None):
        raise ArticleUnreadable(
            "restricted_sharing", f"It is marked {mark.upper()}; what is imported here anybody may read."
        )


def marks_of_text(title: str, text: str) -> frozenset[str]:
    """Return the restricting marks that a title, or the head of a text, bears.

    A text that only speaks of such marks bears none.
    """
    lines = [line.strip() for line in text[: _HEAD_LINES * 500].splitlines() if line.strip()][:_HEAD_LINES]
    found = [match for line in lines if len(line) <= _LONGEST_LINE and (match := _LINE.fullmatch(line))]
    found += [match] if (match := _IN_TITLE.match(title[:400])) else []
    colors = (next(color for color in match.groups() if color) for match in found)
    return frozenset(f"tlp:{''.join(color.lower().split())}" for color in colors)
