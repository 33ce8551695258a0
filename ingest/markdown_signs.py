"""What Markdown says without its signs, for lines that are shown by themselves. Pure."""

from __future__ import annotations

import re
from typing import Final

HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*\s*")
# A line that an author puts before the text: a quotation, a picture, a link, an element or a row of a table.
_ASIDE: Final = re.compile(r"\s*(?:>|!\[|\[|<|\|)")

_IN_LINES: Final = (
    (re.compile(r"(?m)^[ \t]*(?:```|~~~)[^\n]*$"), ""),
    (re.compile(r"(?m)^[ \t]*(?:[-*_=]{3,}|\|?[ \t]*:?-[-| :\t]*)$"), ""),
    (re.compile(r"(?m)^[ \t]*(?:(?:#{1,6}|={1,6}|>|[*+-])(?:[ \t]+|$)){1,4}"), ""),
    (re.compile(r"<(https?://[^<>\s]{1,2000})>"), r"\1"),
    (re.compile(r"</?[A-Za-z][^<>]{0,500}>"), " "),
    (re.compile(r"!\[([^\[\]\n]{0,300})\]\([^()\n]{0,2000}\)"), r"\1"),
    (re.compile(r"\[([^\[\]\n]{0,300})\]\([^()\n]{0,2000}\)"), r"\1"),
    (re.compile(r"`{1,3}([^`\n]{1,400})`{1,3}"), r"\1"),
    (re.compile(r"\*{2,3}(?=\S)([^*\n]{1,400})\*{2,3}"), r"\1"),
    (re.compile(r"(?<!\w)__(?=\S)([^_\n]{1,400})__(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=\w)([^*\n]{1,400})(?<=[\w.!?)])\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)_(?=\w)([^_\n]{1,400})(?<=[\w.!?)])_(?!\w)"), r"\1"),
)
_CELLS: Final = re.compile(r"(?m)^[ \t]*\|(.*)$")


def without_signs(text: str) -> str:
    """Return what a text in Markdown says: `**Loader** of [Barge](x.md)` -> `Loader of Barge`."""
    for sign, rest in _IN_LINES:
        text = sign.sub(rest, text)
    return _CELLS.sub(_row, text)


def is_aside(line: str) -> bool:
    """Tell whether a line stands before what the text says first."""
    return _ASIDE.match(line) is not None


def _row(line: re.Match[str]) -> str:
    return " · ".join(cell for each in line[1].split("|") if (cell := each.strip()))
