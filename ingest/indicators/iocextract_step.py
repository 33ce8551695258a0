"""A second reader of disarmed text: the one file that knows iocextract.

Its patterns backtrack: 20 KB of the wrong text cost it seconds. So it is shown only lines that hold a mark of
defanging, in pieces of 2 KB and no more of them than it can read soon; and it belongs in a process that can be killed.
What it finds passes the same rules as everything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import iocextract

from ingest.indicators.document import document_from_text
from ingest.indicators.extracting import extract

LONGEST_PIECE: Final = 2048
MOST_PIECES: Final = 64

_MARKS: Final = ("[.", ".]", "(.", "{.", "[dot", "(dot", "hxx", "hXX", "[:", "[at", "(at", "[@")


def second_reading(text: str) -> tuple[tuple[str, str], ...]:
    """The (type, value) pairs that iocextract finds in the disarmed lines of a text, each once.

    Run it where it can be killed: no bound on its time is promised.
    """
    found: dict[tuple[str, str], None] = {}
    for piece in _disarmed_pieces(text):
        spelled = "\n".join(raw for raw in dict.fromkeys(_read(piece)) if any(mark in raw for mark in _MARKS))
        found.update(dict.fromkeys((each.type, each.value) for each in extract(document_from_text(spelled)).indicators))
    return tuple(found)


def _disarmed_pieces(text: str) -> Iterator[str]:
    lines = (line for line in text.splitlines() if any(mark in line for mark in _MARKS))
    count = 0
    for line in lines:
        for start in range(0, len(line), LONGEST_PIECE):
            if count == MOST_PIECES:
                return
            count += 1
            yield line[start : start + LONGEST_PIECE]


def _read(piece: str) -> Iterator[str]:
    yield from map(str, iocextract.extract_urls(piece, refang=False))
    yield from map(str, iocextract.extract_ips(piece, refang=False))
    yield from map(str, iocextract.extract_emails(piece, refang=False))
