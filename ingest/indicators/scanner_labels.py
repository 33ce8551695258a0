"""Tell which words stand in the labels that scanners give to files: `Backdoor.Gale.39`."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import NamePlaces

# `Backdoor.`, `Trojan:Win32/`: what a scanner writes before the name of a family.
_KIND_OF_A_LABEL: Final = late(
    r"(?i:(?<![\w.-])(?:backdoor|trojan(?:-?[a-z]{2,12})?|ransom(?:ware)?|worm|spyware|(?:info)?stealer|rootkit|virus)"
    r"[.:](?:(?:win32|win64|osx|macos|linux|androidos|android|msil)[./])?)\Z"
)
_JOINS_A_LABEL: Final = frozenset(":./")
_LONGEST_LABEL: Final = 48
_MOST_PLACES: Final = 20


def names_in_labels(text: str, asked: Collection[str]) -> set[str]:
    """Return those of the spellings `asked` that stand in a scanner's label of the text."""
    places = NamePlaces(text, asked)
    return {
        spelled
        for spelled in asked
        if any(
            text[place - 1 : place] in _JOINS_A_LABEL
            and _KIND_OF_A_LABEL.search(text, max(0, place - _LONGEST_LABEL), place)
            and not text[place + len(spelled) : place + len(spelled) + 1].isalnum()
            for place in islice(places.of(spelled), _MOST_PLACES)
            if place
        )
    }
