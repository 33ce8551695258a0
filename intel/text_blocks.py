"""The structure of an article's text: its blocks as stretches of it, as they are stored."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, get_args

Kind = Literal["heading", "paragraph", "list", "numbers", "table", "code", "quote"]
# Where a stretch of the text begins and ends.
Stretch = tuple[int, int]

LONGEST_STRUCTURE: Final = 1_000_000
_KINDS: Final = get_args(Kind)


@dataclass(slots=True)
class Block:
    """One block; each row holds its cells: one of a line or item, several of a table's row.

    `level` is a heading's (1 to 6), how deep a list lies in others (from 1), and how many of a table's first rows are
    heads. A list of the kind `numbers` counts its items.
    """

    kind: Kind
    rows: list[list[Stretch]] = field(default_factory=list)
    level: int = 0

    @property
    def start(self) -> int:
        return self.rows[0][0][0]

    @property
    def end(self) -> int:
        return self.rows[-1][-1][1]


def written_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks as they are stored; nothing where that would be over 1,000,000 characters."""
    members = [[_KINDS.index(block.kind), block.level, *_flat(block)] for block in blocks]
    written = json.dumps(members, separators=(",", ":")) if members else ""
    return written if len(written) <= LONGEST_STRUCTURE else ""


def _flat(block: Block) -> list[list[int]]:
    return [[border for cell in row for border in cell] for row in block.rows]


def read_blocks(written: str, length: int) -> list[Block]:
    """Return the blocks of a text of that length; none where what is stored does not fit the text.

    A stretch outside the text or before the one in front of it can only come from a reader that an author took over.
    """
    try:
        members = json.loads(written) if written else []
        blocks = [_read(*member) for member in members]
    except (ValueError, TypeError, IndexError, RecursionError):
        return []
    borders = [border for block in blocks for row in block.rows for cell in row for border in cell]
    in_order = all(before <= after for before, after in pairwise(borders))
    return blocks if in_order and (not borders or (borders[0] >= 0 and borders[-1] <= length)) else []


def _read(kind: int, level: int, *rows: list[int]) -> Block:
    cells = [list(zip(row[::2], row[1::2], strict=True)) for row in rows]
    if not cells or not all(cells) or kind < 0 or not all(type(one) is int for row in rows for one in row):
        raise ValueError("no block")
    return Block(_KINDS[kind], cells, max(0, min(6, int(level))))
