"""Read tables as they stand in a text: rows of cells, parted by tabs or bars."""

from __future__ import annotations

import re
from typing import Final

_CELL_ENDS: Final = re.compile(r"[\t|]")
_LONGEST_ROW: Final = 400
_HIGHEST_ROWS: Final = 3_000


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
