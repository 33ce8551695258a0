"""Finding stored indicators again in an article's text, however they are written there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingest.indicators import document_from_text, extract
from intel.ids import ioc_id
from intel.records import Ioc

PART_LENGTH = 40_000
# How far before the end of a part a line or word may end, so that nothing is cut in two.
_SLACK = 2_000

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `ioc` is the indicator that it spells."""

    text: str
    ioc: Ioc | None = None


def part_of(text: str, start: int) -> tuple[str, int | None]:
    """Return the part of a text that begins at `start`, and where the next one begins."""
    if len(text) - start <= PART_LENGTH + _SLACK:
        return text[start:], None
    end = start + PART_LENGTH
    for border in ("\n", " "):
        found = text.rfind(border, end - _SLACK, end)
        if found > 0:
            return text[start : found + 1], found + 1
    return text[start:end], end


def spans_in(text: str) -> tuple[Span, ...]:
    """Return where a text spells what may be an indicator, and the id of that one."""
    # A name that is an everyday word is spelt in many places where it names nothing.
    return tuple(
        (candidate.start, candidate.end, ioc_id(candidate.type, candidate.value))
        for candidate in extract(document_from_text(text)).candidates()
        if candidate.kept or candidate.type != "malware"
    )


def marked(text: str, spans: Iterable[Span], iocs: Mapping[str, Ioc]) -> tuple[Piece, ...]:
    """Cut the text into pieces; one that spells one of the indicators (by id) bears it, the longest of several."""
    pieces, position = [], 0
    for start, end, id in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < position or id not in iocs:
            continue
        pieces += [Piece(text[position:start]), Piece(text[start:end], iocs[id])]
        position = end
    return tuple(piece for piece in (*pieces, Piece(text[position:])) if piece.text)
