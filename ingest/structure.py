"""Find the blocks of an article's text again in the tree that the text was written from. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final

from lxml import etree

from intel.text_blocks import Block, Kind, Stretch, written_blocks

# A block is looked for so far behind the one before it; what lies between is told by its lines.
_SLACK: Final = 4_000
_MOST_LEAVES: Final = 40_000
# Of a table's row, one after the other.
_MOST_EMPTY: Final = 40
# What the text has and the tree has not: signs of list items and of tables.
_SIGNS: Final = re.compile(r"[\s|:\\-]*")
_BLANKS: Final = re.compile(r"(?:[\s|]|\\(?=\|))+")
_BLANKS_KEPT: Final = re.compile(f"({_BLANKS.pattern})")
_BLOCKS: Final = frozenset({"p", "head", "list", "item", "quote", "table", "row", "cell", "code", "body", "div", "ab"})
_IN_LINE: Final = frozenset({"p", "head", "item", "cell"})


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A piece of running text: its kind and level, the element that its block is, and those of its row and cell."""

    kind: Kind
    level: int
    words: str
    block: Any = None
    row: Any = None
    cell: Any = None


def structure_of(tree: Any, text: str) -> str:
    """Return the stored form of the blocks of a text, read from the elements `head p list item quote code table row
    cell` of its tree; nothing where the tree tells no more than paragraphs.
    """
    squeezed = _squeezed(text)
    found: list[tuple[_Leaf, Stretch]] = []
    cursor = 0
    for _, leaf in zip(range(_MOST_LEAVES), _leaves(tree), strict=False):
        place = squeezed.letters.find(leaf.words, cursor, cursor + len(leaf.words) + _SLACK)
        if place >= 0:
            end = place + len(leaf.words)
            found.append((leaf, (squeezed.place(place), squeezed.place(end - 1) + 1)))
            cursor = end
    if all(leaf.kind == "paragraph" for leaf, _ in found):
        return ""
    return written_blocks(_filled(_assembled(found, text), text))


@dataclass(frozen=True, slots=True)
class _Squeezed:
    """A text without blanks and signs of tables: its pieces begin at `starts`, and in the text itself at `origins`."""

    letters: str
    starts: list[int]
    origins: list[int]

    def place(self, position: int) -> int:
        """Return where a character that is left stands in the text."""
        piece = bisect_right(self.starts, position) - 1
        return self.origins[piece] + position - self.starts[piece]


def _squeezed(text: str) -> _Squeezed:
    pieces = _BLANKS_KEPT.split(text)  # by turns with the blanks behind them
    ends = [0, *accumulate(map(len, pieces))]
    letters = pieces[::2]
    return _Squeezed("".join(letters), [0, *accumulate(map(len, letters[:-1]))], ends[:-1:2])


def _leaves(tree: Any) -> Iterator[_Leaf]:
    """Yield the running text between the borders of blocks and lines, in order."""
    open: list[Any] = []
    pieces: list[str] = []
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        is_block = tag in _BLOCKS and not (tag == "code" and _is_in_line(element, open))
        if is_block or (tag == "lb" and event == "start"):
            if words := _BLANKS.sub("", "".join(pieces)):
                yield _leaf(words, open)
            pieces.clear()
        if is_block and event == "start":
            open.append(element)
        elif is_block:
            open.pop()
        pieces.append((element.text if event == "start" else element.tail) or "")


def _is_in_line(code: Any, open: list[Any]) -> bool:
    """Tell whether code stands among words, or in other code."""
    tags = [element.tag for element in open if element is not code]
    return "code" in tags or (bool(tags) and tags[-1] in _IN_LINE and "\n" not in "".join(code.itertext()).strip())


def _leaf(words: str, open: list[Any]) -> _Leaf:
    by_tag = {element.tag: element for element in open}
    if "cell" in by_tag and "table" in by_tag:
        cell, row = by_tag["cell"], by_tag.get("row")
        return _Leaf("table", int(cell.get("role") == "head"), words, by_tag["table"], row, cell)
    if "code" in by_tag:
        return _Leaf("code", 0, words, by_tag["code"])
    if "head" in by_tag:
        level = (by_tag["head"].get("rend") or "h2")[-1]
        return _Leaf("heading", int(level) if level in "123456" else 2, words, by_tag["head"])
    if "item" in by_tag:
        lists = [element for element in open if element.tag == "list"]
        kind: Kind = "numbers" if lists and lists[-1].get("rend") == "ol" else "list"
        return _Leaf(kind, min(6, len(lists)), words, lists[-1] if lists else None, by_tag["item"])
    if "quote" in by_tag:
        return _Leaf("quote", 0, words, by_tag["quote"], open[-1])
    return _Leaf("paragraph", 0, words, open[-1] if open else None)


def _assembled(found: list[tuple[_Leaf, Stretch]], text: str) -> list[Block]:
    """Return the blocks: leaves of one block, row and cell belong together."""
    blocks: list[Block] = []
    before: _Leaf | None = None
    for leaf, stretch in found:
        # Only `<pre>` keeps its line ends in one piece; the reader of pages takes it for a quotation.
        if leaf.kind == "quote" and "\n" in text[stretch[0] : stretch[1]]:
            leaf = replace(leaf, kind="code")
        joins = before is not None and leaf.kind == before.kind and leaf.block is before.block
        if not joins:
            blocks.append(Block(leaf.kind, [], 0 if leaf.kind == "table" else leaf.level))
        block = blocks[-1]
        if leaf.kind == "code":
            _add_lines(block, text, stretch)
        elif joins and leaf.kind == "heading":
            _join_row(block.rows[-1], stretch, same_cell=True)
        elif joins and before is not None and leaf.row is before.row and leaf.row is not None:
            same = leaf.kind != "table" or leaf.cell is before.cell
            empty = 0 if same else _empty_between(leaf.cell, before.cell)
            _join_row(block.rows[-1], stretch, same_cell=same, empty=empty)
        else:
            empty = _empty_between(leaf.cell, None) if leaf.kind == "table" else 0
            block.rows.append([*_empty_cells(empty, stretch), stretch])
            block.level += leaf.kind == "table" and bool(leaf.level) and len(block.rows) == block.level + 1
        before = leaf
    return blocks


def _join_row(row: list[Stretch], stretch: Stretch, *, same_cell: bool, empty: int = 0) -> None:
    if same_cell:
        row[-1] = (row[-1][0], stretch[1])
    else:
        row += [*_empty_cells(empty, stretch), stretch]


def _empty_cells(count: int, before: Stretch) -> list[Stretch]:
    """Return cells without words, which keep the columns of those behind them."""
    return [(before[0], before[0])] * count


def _empty_between(cell: Any, before: Any) -> int:
    """Return how many cells of a row stand between one and the last with words before it."""
    count, other = 0, cell.getprevious() if cell is not None else None
    while other is not None and other is not before and count < _MOST_EMPTY:
        count, other = count + 1, other.getprevious()
    return count


def _add_lines(block: Block, text: str, stretch: Stretch) -> None:
    """Add the lines of code with what they are indented by."""
    start = text.rfind("\n", 0, stretch[0]) + 1
    indented = start if not text[start : stretch[0]].strip() else stretch[0]
    end = text.find("\n", stretch[1])
    ended = end if end >= 0 and not text[stretch[1] : end].strip(" |\\") else stretch[1]
    if block.rows:
        indented = max(indented, block.rows[-1][-1][1])
    block.rows += [[line] for line in _lines(text, (indented, ended))]


def _lines(text: str, stretch: Stretch) -> Iterator[Stretch]:
    start, end = stretch
    while (border := text.find("\n", start, end)) >= 0:
        yield start, border
        start = border + 1
    yield start, end


def _filled(blocks: list[Block], text: str) -> Iterator[Block]:
    """Yield the blocks, and what stands between them as paragraphs: nothing of a text is lost."""
    position = 0
    for block in [*blocks, None]:
        end = block.start if block else len(text)
        if not _SIGNS.fullmatch(text, position, end):
            lines = [line for line in _lines(text, (position, end)) if not _SIGNS.fullmatch(text, *line)]
            yield Block("paragraph", [[line] for line in lines])
        if block is not None:
            yield block
            position = block.end
