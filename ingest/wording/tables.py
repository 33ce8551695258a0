"""Write out the rows of tables so that each cell says what it is: `Exploited: Yes` instead of `Yes`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_CVE: Final = re.compile(r"CVE-[0-9]{4}-[0-9]", re.I)
_HEADING: Final = re.compile(r"(?:cve\b|exploit)", re.I)
_RULE: Final = re.compile(r"[\s|:+-]+")
_MOST_CELLS: Final = 30
_LONGEST_ROW: Final = 2_000


def written_out(text: str) -> str:
    """Return the text with each table cell under its heading; a row has bars or tabs between its cells."""
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    headings: list[str] = []
    for line in lines:
        cells = _cells(line)
        if len(cells) < 2:
            headings = headings if cells and _RULE.fullmatch(line) else []
        elif not _CVE.search(line) and any(_HEADING.match(cell) for cell in cells):
            headings = cells
        elif len(cells) == len(headings):
            line = " | ".join(f"{name}: {cell}" for name, cell in zip(headings, cells, strict=True) if cell)
        yield line


def _cells(line: str) -> list[str]:
    if len(line) > _LONGEST_ROW or not ("|" in line or "\t" in line):
        return []
    cells = [cell.strip() for cell in re.split(r"\||\t", line.strip().strip("|"))]
    return cells if len(cells) <= _MOST_CELLS else []
