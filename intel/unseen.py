"""What cannot be seen in a text and may turn a line around or hide something in it."""

from __future__ import annotations

import re
from typing import Final

# Controls but tab and line feed; zero-width and bidirectional formatting characters; lone surrogates; tag characters.
UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_CONTROLS: Final = frozenset("\t\n")


def plain(text: str) -> str:
    """Return the text without what cannot be seen."""
    return UNSEEN.sub("", text)


def holds_controls(text: str) -> bool:
    """Tell whether a line holds a control or an unseen formatting character."""
    return UNSEEN.search(text) is not None or not _LINE_CONTROLS.isdisjoint(text)
