"""Read tables as they stand in a text: rows of cells, parted by tabs or bars, or by the commas of a file of values."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final, NamedTuple

_CELL_ENDS: Final = re.compile(r"[\t|]")
_LONGEST_ROW: Final = 400
_HIGHEST_ROWS: Final = 3_000
_FEWEST_COMMAS: Final = 2
_FEWEST_ROWS: Final = 3
_ROW_OF_VALUES: Final = re.compile(rf"^[^\n,]{{0,80}}(?:,[^\n,]{{0,200}}){{{_FEWEST_COMMAS},60}}$", re.MULTILINE)
_WORD_OF_A_HEAD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_ \"'`\ufeff]+")


class _Block(NamedTuple):
    """Rows of equally many cells, one under the other: where they begin and end, and what their heads say."""

    start: int
    end: int
    heads: list[str]


class ValueTables:
    """The files of values, parted by commas, that a text holds: `Added,Type,C2Domain` and what follows it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def head_of_cell(self, start: int) -> str:
        """Return the words at the head of the column of `start`, in small letters; nothing outside such a table."""
        reach = max(0, start - _LONGEST_ROW)
        first = self._text.rfind("\n", reach, start) + 1 or reach
        column = self._text.count(",", first, start)
        end = self._text.find("\n", start, start + _LONGEST_ROW)
        if column + self._text.count(",", start, end if end >= 0 else start + _LONGEST_ROW) < _FEWEST_COMMAS:
            return ""
        index = bisect_right(self._starts, start) - 1
        if index < 0 or start >= self._blocks[index].end:
            return ""
        heads = self._blocks[index].heads
        is_whole = self._text[first - 1 : first] in ("", "\n")
        return heads[column] if is_whole and column < len(heads) else ""

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self._blocks]

    @cached_property
    def _blocks(self) -> list[_Block]:
        blocks: list[_Block] = []
        rows: list[re.Match[str]] = []
        for row in _ROW_OF_VALUES.finditer(self._text):
            if rows and (row.start() > rows[-1].end() + 1 or row[0].count(",") != rows[-1][0].count(",")):
                blocks += _block(rows)
                rows = []
            rows.append(row)
        return blocks + _block(rows)


def _block(rows: list[re.Match[str]]) -> list[_Block]:
    if len(rows) < _FEWEST_ROWS:
        return []
    heads = [" ".join(_WORD_OF_A_HEAD.split(cell)).strip().lower() for cell in rows[0][0].split(",")]
    return [_Block(rows[0].end(), rows[-1].end(), heads)]


def head_of_column(text: str, start: int) -> str:
    """Return what stands at the head of the column of `start`, or nothing outside a table."""
    head, column = head_of_table(text, start)
    return head[column] if column < len(head) else ""


def head_of_table(text: str, start: int) -> tuple[list[str], int]:
    """Return the cells of the first row of the table around `start`, none outside a table, and the column."""
    first = text.rfind("\n", max(0, start - _LONGEST_ROW), start) + 1
    if not first:
        return [], 0
    column = text.count("\t", first, start) + text.count("|", first, start)
    if not (column or _CELL_ENDS.match(text, text.find("\n", start) - 1)):
        return [], column
    highest, end = max(0, first - _HIGHEST_ROWS), first - 1
    least = max(column, 1)
    head: tuple[int, int] | None = None
    while end >= highest:
        begin = text.rfind("\n", highest, end) + 1 or highest
        if text.count("\t", begin, end) + text.count("|", begin, end) < least:
            break
        head, end = (begin, end), begin - 1
    return _CELL_ENDS.split(text[slice(*head)]) if head else [], column
