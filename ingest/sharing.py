"""What an article says of how far it may be passed on, by the Traffic Light Protocol.

What is stored here anybody may read, so that some marks keep an article out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from intel.errors import ArticleUnreadable
from intel.tlp import LEVELS, RESTRICTED, Tlp, strictest

# A mark stands in a line of its own, or in a field, at the head of a text.
_HEAD_LINES: Final = 20
_LONGEST_LINE: Final = 80
_MARK: Final = r"tlp\s?[:=]?\s?[\"']?(red|amber[\s+_-]{1,5}strict|amber|green|clear|white)"
_LINE: Final = re.compile(rf"(?i)[^\w]{{0,10}}(?:[a-z]{{1,20}}[^\w]{{1,3}})?{_MARK}[^\w]{{0,10}}")
_IN_TITLE: Final = re.compile(rf"(?i)[^\w]{{0,10}}{_MARK}\b|.{{0,300}}\[{_MARK}\]")


def sharing_of(marks: Collection[str]) -> Tlp | None:
    """Return the strictest level that marks such as `tlp:amber` name; None where none names one.

    Raises ArticleUnreadable (`restricted_sharing`) where one of them keeps an article out.
    """
    if mark := next((one for one in RESTRICTED if f"tlp:{one}" in marks), None):
        raise ArticleUnreadable(
            "restricted_sharing", f"It is marked TLP:{mark.upper()}; what is imported here anybody may read."
        )
    return _stated(marks)


def sharing_of_page(marks: Collection[str]) -> Tlp | None:
    """Do the same for a page from an address, which anybody can read there: it has the strictest level in any case."""
    return "amber" if any(f"tlp:{one}" in marks for one in RESTRICTED) else _stated(marks)


def marks_of_text(title: str, text: str) -> frozenset[str]:
    """Return the marks that a title, or the head of a text, bears, such as `tlp:red`.

    A text that only speaks of such marks bears none.
    """
    lines = [line.strip() for line in text[: _HEAD_LINES * 500].splitlines() if line.strip()][:_HEAD_LINES]
    found = [match for line in lines if len(line) <= _LONGEST_LINE and (match := _LINE.fullmatch(line))]
    found += [match] if (match := _IN_TITLE.match(title[:400])) else []
    return frozenset(f"tlp:{_color(next(filter(None, match.groups())))}" for match in found)


def _color(written: str) -> str:
    first, *strict = re.split(r"[\s+_-]+", written.lower())
    return "+".join((first, *strict))


def _stated(marks: Collection[str]) -> Tlp | None:
    # What version 1.0 calls white is clear in 2.0.
    former: tuple[Tlp | None, ...] = ("clear",) if "tlp:white" in marks else ()
    return strictest([*former, *(level for level in LEVELS if f"tlp:{level}" in marks)])
