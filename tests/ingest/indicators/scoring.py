"""Right, wrong and missed, by type: the numbers by which labelled texts are judged."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from intel.records import IOC_TYPES


@dataclass(frozen=True, slots=True)
class Score:
    """Counts by type of what was found and expected (each `type value`)."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def add(self, found: Iterable[str], expected: Iterable[str], neutral: Iterable[str] = ()) -> None:
        """Counts one text."""
        seen, wanted = set(found), set(expected)
        self.right.update(_types(seen & wanted))
        self.wrong.update(_types(seen - wanted - set(neutral)))
        self.missed.update(_types(wanted - seen))

    @property
    def types(self) -> list[str]:
        present = self.right | self.wrong | self.missed
        return [type for type in IOC_TYPES if type in present]

    def f1(self, type: str | None = None) -> float:
        """F1 of one type, or over all indicators."""
        right, wrong, missed = (
            counts.total() if type is None else counts[type] for counts in (self.right, self.wrong, self.missed)
        )
        return 2 * right / (2 * right + wrong + missed) if right + wrong + missed else 1.0

    def print_table(self, title: str) -> None:
        """A line for each type."""
        lines = [f"{title:<22}{'right':>7}{'wrong':>7}{'missed':>7}{'P':>8}{'R':>8}{'F1':>8}"]
        for type in [*self.types, None]:
            right, wrong, missed = (
                counts.total() if type is None else counts[type] for counts in (self.right, self.wrong, self.missed)
            )
            precision, recall = right / max(1, right + wrong), right / max(1, right + missed)
            numbers = f"{right:>7}{wrong:>7}{missed:>7}{precision:>8.3f}{recall:>8.3f}{self.f1(type):>8.3f}"
            lines.append(f"{type or 'all':<22}{numbers}")
        sys.stdout.write("\n" + "\n".join(lines) + "\n")

    def below(self, floors: Mapping[str, float]) -> dict[str, float]:
        """The types whose F1 is below what was recorded."""
        return {type: self.f1(type) for type in self.types if round(self.f1(type), 3) < floors.get(type, 1.0)}


def _types(labels: Iterable[str]) -> list[str]:
    return [label.partition(" ")[0] for label in labels]
