"""Read the full stop of Chinese and Japanese as a dot where it stands in a name or an address."""

from __future__ import annotations

import re
from collections.abc import Container
from string import ascii_letters, digits
from typing import Final

from intel.suffixes import is_top_level

FULL_STOP: Final = "\u3002"
# `45\u3002148\u300210\u30023`: no sentence is a number.
_ADDRESS: Final = re.compile(rf"(?<![\w.{FULL_STOP}])[0-9]{{1,3}}(?:{FULL_STOP}[0-9]{{1,3}}){{3}}(?![0-9.{FULL_STOP}])")
_MAY_BE_OF_AN_ADDRESS: Final = re.compile(f"{FULL_STOP}[0-9]")
# The engine skips to the sign at its front; what stands before that is read where the rest matches.
_NAME: Final = re.compile(rf"{FULL_STOP}(?<=[A-Za-z0-9-]{FULL_STOP})(?=(?P<top>[a-z]{{2,12}})(?![A-Za-z0-9._-]))")
_OF_A_LABEL: Final = f"{ascii_letters}{digits}-"
_LONGEST_LABEL: Final = 63
_LETTERS: Final = re.compile(r"[a-z][a-z0-9-]{4,}")


def with_dots(text: str, dot: str, words: Container[str]) -> str:
    """Return a text with `dot` for such full stops; one of the `words` behind it begins a sentence."""

    def read(name: re.Match[str]) -> str:
        label, top = _label_before(name), name["top"]
        is_marked = "-" in label.strip("-") or (any(map(str.isdigit, label)) and not label.isdigit())
        is_a_name = is_marked or (top not in words and _LETTERS.fullmatch(label) is not None)
        return dot if is_a_name and is_top_level(top) else name[0]

    if _MAY_BE_OF_AN_ADDRESS.search(text):
        text = _ADDRESS.sub(lambda address: address[0].replace(FULL_STOP, dot), text)
    return _NAME.sub(read, text)


def _label_before(stop: re.Match[str]) -> str:
    """Return the label right before a full stop, or nothing where it is too long for one."""
    piece = stop.string[max(0, stop.start() - _LONGEST_LABEL - 1) : stop.start()]
    label = piece[len(piece.rstrip(_OF_A_LABEL)) :]
    return label if len(label) <= _LONGEST_LABEL else ""
