"""Find the rows of a note of which another line says whose they are: `row 2: Teams, fine`, `the last one is ours`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from ingest.indicators.clauses import REACH, Role, clause_behind, pointing_words, role_behind
from ingest.indicators.evidence import Evidence

_ROW: Final = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)|[\w.+-]@[\w-]+\.\w|(?<!\w)[0-9a-f]{32,64}(?!\w)|(?:[0-9a-f]{1,4}:){4}"
)
_SAID_OF: Final = frozenset({"that", "those"})
_Span = tuple[int, int]


class PointedRows:
    """The rows of one short text of which another line says whose they are, or that they are harmless."""

    def __init__(self, text: str) -> None:
        self._said = text.lower().replace("'", "\u2019")
        self._rows: list[tuple[int, int, Role]] = []
        self._of_mailboxes: Role | None = None
        if len(self._said) == len(text):
            self._read()

    def said_of(self, type: str, start: int) -> list[Evidence]:
        """Return what other lines say of a value of that type at `start`."""
        if type == "email" and self._of_mailboxes is not None:
            return [(self._of_mailboxes.points, self._of_mailboxes.id)]
        return [(role.points, role.id) for first, last, role in self._rows if first <= start < last][:1]

    def _read(self) -> None:
        for kind, pattern in _pointers():
            for found in pattern.finditer(self._said):
                said = self._said[found.end() : found.end() + REACH]
                role = role_behind(clause_behind(f" is {said.lstrip()}" if kind in _SAID_OF else said))
                if role is None:
                    continue
                if kind == "accounts":
                    self._of_mailboxes = role
                number = int(next((each for each in found.groups() if each), 0)) if kind == "numbered" else 0
                self._rows += [(first, last, role) for first, last in self._meant(kind, number, found)]

    def _meant(self, kind: str, number: int, found: re.Match[str]) -> Iterator[_Span]:
        """Yield the rows that the words of a kind stand for."""
        above, below = self._around(found.end())
        rows = above or below
        if kind == "others":
            its_own = self._said[self._said.rfind("\n", 0, found.start()) + 1 : found.end()]
            named = set(_ROW.findall(its_own))
            yield from (
                row for row in (*above, *below) if named and named.isdisjoint(_ROW.findall(self._said[slice(*row)]))
            )
        elif kind == "that":
            yield from above[-1:]
        elif kind == "those":
            its_line = self._said.rfind("\n", 0, found.start()) + 1
            yield max(its_line, self._said.rfind(". ", its_line, found.start() - 2) + 1), found.start()
        elif kind == "last":
            yield from rows[-1:] if len(rows) > 1 else ()
        elif kind != "accounts":
            number = number or int(kind)
            yield from rows[number - 1 : number] if len(rows) > 1 else ()

    def _around(self, place: int) -> tuple[list[_Span], list[_Span]]:
        """Return the rows that stand right above the line of a place, and those right below it."""
        lines = [(line.start(), line.end()) for line in re.finditer(r"[^\n]+", self._said)]
        here = next(index for index, (_, end) in enumerate(lines) if place <= end)
        return self._run(lines[:here][::-1])[::-1], self._run(lines[here + 1 :])

    def _run(self, lines: list[_Span]) -> list[_Span]:
        rows: list[_Span] = []
        for first, last in lines:
            if _ROW.search(self._said, first, last) is None:
                break
            rows.append((first, last))
        return rows


@cache
def _pointers() -> tuple[tuple[str, re.Pattern[str]], ...]:
    words = dict(pointing_words())
    ordinals = words.pop("ordinals").split(";")
    numbered = [(str(number), each) for number, each in enumerate(ordinals, 1)]
    return tuple((kind, re.compile(each)) for kind, each in (*words.items(), *numbered))
