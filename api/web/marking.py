"""Finding stored indicators again in an article's text, however they are written there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ingest.indicators import document_from_text, extract
from intel.catalogues.actors import Names
from intel.ids import ioc_id
from intel.records import Ioc
from intel.text_blocks import Block

PART_LENGTH = 40_000
# A list of indicators is long before it has many characters; read and marked, so many lines take some 90 ms.
PART_LINES = 300
# How far before the end of a part a line or word may end, so that nothing is cut in two.
_SLACK = 2_000
_SLACK_LINES = 100
_MOST_COLUMNS = 40

Span = tuple[int, int, str]
_ACTOR = "actor "


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `ioc` is the indicator that it spells, `actor` the threat actor that it names."""

    text: str
    ioc: Ioc | None = None
    actor: str = ""


def part_of(text: str, start: int) -> tuple[str, int | None]:
    """Return the part of a text that begins at `start`, and where the next one begins."""
    end = start + PART_LENGTH
    last_line = _after_lines(text, start, PART_LINES)
    if last_line <= end and _after_lines(text, last_line, _SLACK_LINES) < len(text):
        return text[start:last_line], last_line
    if len(text) <= end + _SLACK:
        return text[start:], None
    for border in ("\n", " "):
        found = text.rfind(border, end - _SLACK, end)
        if found > 0:
            return text[start : found + 1], found + 1
    return text[start:end], end


def _after_lines(text: str, start: int, count: int) -> int:
    """Return where the line after so many begins, or the text ends."""
    for _ in range(count):
        start = text.find("\n", start) + 1
        if not start:
            return len(text)
    return start


def actors_in(text: str, names: Names) -> tuple[Span, ...]:
    """Return where a text names threat actors, each as the id `actor NAME`."""
    return tuple((start, end, _ACTOR + name) for start, end, name in names.spans(text))


def spans_in(text: str) -> tuple[Span, ...]:
    """Return where a text spells what may be an indicator, and the id of that one."""
    # A name that is an everyday word is spelt in many places where it names nothing.
    return tuple(
        (candidate.start, candidate.end, ioc_id(candidate.type, candidate.value))
        for candidate in extract(document_from_text(text)).candidates()
        if candidate.kept or candidate.type != "malware"
    )


Rows = tuple[tuple[tuple[Piece, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """A block of a text whose cells are pieces; `anchor` is set for headings. All rows of a table are equally long."""

    kind: str
    rows: Rows
    level: int
    anchor: str = ""

    @property
    def heading(self) -> str:
        return "".join(piece.text for row in self.rows for cell in row for piece in cell).strip()


def marked_blocks(
    text: str, blocks: Sequence[Block], spans: Iterable[Span], iocs: Mapping[str, Ioc], begin: int = 0
) -> tuple[MarkedBlock, ...]:
    """Return the blocks of a text with its indicators marked; the text begins at `begin` of its article's."""
    ordered = sorted(span for span in spans if span[2] in iocs or span[2].startswith(_ACTOR))
    starts = [start for start, _, _ in ordered]

    def cell(stretch: tuple[int, int]) -> tuple[Piece, ...]:
        first, end = stretch
        within = ordered[bisect_left(starts, first) : bisect_left(starts, end)]
        shifted = [(start - first, stop - first, id) for start, stop, id in within if stop <= end]
        return marked(text[first:end], shifted, iocs)

    def block_of(block: Block) -> MarkedBlock:
        rows = tuple(tuple(map(cell, row)) for row in block.rows)
        anchor = anchor_at(begin + block.start) if block.kind == "heading" else ""
        return MarkedBlock(block.kind, _filled_up(rows) if block.kind == "table" else rows, block.level, anchor)

    return tuple(map(block_of, blocks))


def anchor_at(position: int) -> str:
    """Return the anchor of the heading that begins there in its article's text."""
    return f"at-{position}"


def _filled_up(rows: Rows) -> Rows:
    """Return rows of a table with empty cells behind the last that has words, so that all are equally long."""
    longest = min(_MOST_COLUMNS, max(map(len, rows), default=0))
    return tuple((*row, *[()] * (longest - len(row))) for row in rows)


def marked(text: str, spans: Iterable[Span], iocs: Mapping[str, Ioc]) -> tuple[Piece, ...]:
    """Cut the text into pieces; one that spells one of the indicators (by id) bears it, the longest of several."""
    pieces, position = [], 0
    for start, end, id in sorted(spans, key=lambda span: (span[0], -span[1])):
        is_actor = id.startswith(_ACTOR)
        if start < position or (id not in iocs and not is_actor):
            continue
        named = id.removeprefix(_ACTOR) if is_actor else ""
        pieces += [Piece(text[position:start]), Piece(text[start:end], iocs.get(id), named)]
        position = end
    return tuple(piece for piece in (*pieces, Piece(text[position:])) if piece.text)
