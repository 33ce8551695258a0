"""The blocks of an article's text: as its page told them, or else as its lines tell them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from intel.text_blocks import Block, Kind, Stretch

_MARKED_HEADING: Final = re.compile(r"\s{0,3}(#{1,6}|={1,6})\s+(?=\S)")
_HEADING_OR_FENCE: Final = re.compile(
    r"^[ \t]{0,3}(?:(?:```|~~~)|(?P<level>#{1,6}|={1,6})[ \t]+(?P<words>\S[^\n]{0,300}))", re.MULTILINE
)
_ITEM: Final = re.compile(r"\s{0,12}(?:[-*\u2022\u2023]|\d{1,2}[.)])\s+(?=\S)")
_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_RULE: Final = re.compile(r"[\s|:+-]*$")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_FENCE: Final = re.compile(r"\s{0,3}(?:(?:`{3,}|~{3,})[\w+#-]{0,20}|----)\s*$")
_LINE: Final = re.compile(r"\s*[-=_*~]{5,}\s*$")
_INDENTED: Final = re.compile(r"(?: {4}|\t)\s*\S")
_ENDED: Final = re.compile(r"[.!?:;\u2026][\"')\]\u201d]?\s*$")
_HEADING_LENGTH: Final = 80
_HEADING_WORDS: Final = 12
_LONG_LINE: Final = 110


def blocks_within(known: Sequence[Block], text: str, start: int) -> list[Block]:
    """Return the blocks of a part of a text that begins at `start`: those that are known, else what its lines tell."""
    if not known:
        return blocks(text)
    end = start + len(text)
    cut = (_cut(block, start, end) for block in known if block.end > start and block.start < end)
    return [block for block in cut if block.rows]


def marked_headings(text: str) -> list[Block]:
    """Return the headings that a text marks (`## Hosts`), outside of fenced code, without reading its other lines."""
    found, fenced = list[Block](), False
    for line in _HEADING_OR_FENCE.finditer(text):
        if line["level"] is None:
            fenced = not fenced
        elif not fenced:
            found.append(Block("heading", [[line.span("words")]], len(line["level"])))
    return found


def _cut(block: Block, start: int, end: int) -> Block:
    """Return what of a block lies within a part of its text, counted from where that begins."""
    rows = [row for row in block.rows if row[-1][1] > start and row[0][0] < end]
    cells = [[(max(a, start) - start, max(start, min(b, end)) - start) for a, b in row] for row in rows]
    return Block(block.kind, cells, block.level)


def blocks(text: str) -> list[Block]:
    """Return the blocks of a text, in order; no character but markup and line ends is left out."""
    lines = list(_lines(text))
    found: list[Block] = []
    fenced = parted = False
    for place, (start, end) in enumerate(lines):
        line = text[start:end]
        if _FENCE.match(line):
            fenced = not fenced and any(_FENCE.match(text[a:b]) for a, b in lines[place + 1 : place + 400])
            parted = True
        elif fenced:
            _add(found, "code", [(start, end)], parted=parted)
            parted = False
        elif not line.strip() or _LINE.match(line):
            parted = True
        else:
            _take(found, text, lines, place, parted=parted)
            parted = False
    return found


def _lines(text: str) -> Iterator[Stretch]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def _take(found: list[Block], text: str, lines: Sequence[Stretch], place: int, *, parted: bool) -> None:
    start, end = lines[place]
    line = text[start:end]
    if _ROW.match(line):
        if not _RULE.match(line):
            _add(found, "table", _cells(text, start, end), parted=parted)
    elif marked := _MARKED_HEADING.match(line):
        found.append(Block("heading", [[(start + marked.end(), end)]], len(marked[1])))
    elif item := _ITEM.match(line):
        _add(found, "list", [(start + item.end(), end)], parted=False)
    elif _INDENTED.match(line) and (parted or (found and found[-1].kind == "code")):
        _add(found, "code", [(start, end)], parted=parted)
    elif _is_heading(line, text, lines, place):
        found.append(Block("heading", [[(start, end)]], 2))
    else:
        _add_line(found, text, start, end, parted=parted)


def _add(found: list[Block], kind: Kind, cells: list[Stretch], *, parted: bool) -> None:
    if parted or not found or found[-1].kind != kind:
        found.append(Block(kind))
    found[-1].rows.append(cells)


def _add_line(found: list[Block], text: str, start: int, end: int, *, parted: bool) -> None:
    """Add a line of a paragraph: a wrapped one goes on where the one before ended."""
    last = found[-1] if found and not parted else None
    if last is None or last.kind != "paragraph":
        found.append(Block("paragraph", [[(start, end)]]))
        return
    begun, ended = last.rows[-1][0]
    length = ended - max(begun, text.rfind("\n", begun, ended) + 1)
    if 50 <= length <= _LONG_LINE and text[start:end].lstrip()[:1].islower():
        last.rows[-1] = [(begun, end)]
    elif length > _LONG_LINE or _ENDED.search(text, max(begun, ended - 4), ended):
        found.append(Block("paragraph", [[(start, end)]]))
    else:
        last.rows.append([(start, end)])


def _cells(text: str, start: int, end: int) -> list[Stretch]:
    borders = [match.start() for match in _CELL_END.finditer(text, start, end)]
    return [(left + 1, right) for left, right in itertools.pairwise(borders)]


def _is_heading(line: str, text: str, lines: Sequence[Stretch], place: int) -> bool:
    """Tell whether a short line without an end announces the long one, or the list, that follows."""
    words = line.split()
    shouted = line.isupper() and line.rstrip().endswith(":")
    ended = _ENDED.search(line) and not shouted
    if len(line) > _HEADING_LENGTH or len(words) > _HEADING_WORDS or ended or "[.]" in line:
        return False
    if not (words[0][0].isupper() or words[0][0].isdigit()) or not any(word[:1].isalpha() for word in words):
        return False
    after = next((text[a:b] for a, b in lines[place + 1 : place + 3] if text[a:b].strip()), "")
    return len(after) > _LONG_LINE or (bool(_ITEM.match(after)) and (shouted or len(words) > 1))
