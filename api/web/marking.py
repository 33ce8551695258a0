"""Finding stored indicators again in an article's text, however they are written there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingest.indicators import document_from_text, extract
from intel.records import Ioc

PART_LENGTH = 40_000
# How far before the end of a part a line or word may end, so that nothing is cut in two.
_SLACK = 2_000

Named = tuple[str, str]
Span = tuple[int, int, Named]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `ioc` is the indicator that it spells."""

    text: str
    ioc: Ioc | None = None


def part_of(text: str, start: int) -> tuple[str, int | None]:
    """The part of a text that begins at `start`, and where the next one begins."""
    if len(text) - start <= PART_LENGTH + _SLACK:
        return text[start:], None
    end = start + PART_LENGTH
    for border in ("\n", " "):
        found = text.rfind(border, end - _SLACK, end)
        if found > 0:
            return text[start : found + 1], found + 1
    return text[start:end], end


def marked(text: str, iocs: Mapping[Named, Ioc]) -> tuple[Piece, ...]:
    """The text in pieces, those that spell one of the indicators marked; where several overlap, the longest."""
    pieces, position = [], 0
    for start, end, named in sorted(_spans(text), key=lambda span: (span[0], -span[1])):
        if start < position or named not in iocs:
            continue
        pieces += [Piece(text[position:start]), Piece(text[start:end], iocs[named])]
        position = end
    return tuple(piece for piece in (*pieces, Piece(text[position:])) if piece.text)


def _spans(text: str) -> Iterator[Span]:
    # A name that is an everyday word is spelt in many places where it names nothing.
    for candidate in extract(document_from_text(text)).candidates():
        if candidate.kept or candidate.type != "malware":
            yield candidate.start, candidate.end, (candidate.type, candidate.value)
