"""The labelled sentences, and how well they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.wording import findings_of
from ingest.wording.sentences import CVE

FOLDER = Path(__file__).parent
_NAMES = {"in_the_wild": "wild", "poc": "poc"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text and what it says of each of its CVEs: wild, poc or none."""

    text: str
    says: dict[str, str]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something was found rightly, found wrongly, and missed; `wrong` tells the latter two."""

    found: int
    invented: int
    missed: int
    wrong: tuple[str, ...]

    @property
    def precision(self) -> float:
        return self.found / max(1, self.found + self.invented)

    @property
    def recall(self) -> float:
        return self.found / max(1, self.found + self.missed)


def labelled() -> Iterator[Labelled]:
    """All of them."""
    for file in sorted(FOLDER.glob("sentences_*.txt")):
        for line in file.read_text("utf-8").splitlines():
            label, bar, text = line.partition(" | ")
            if bar and not line.startswith("#"):
                yield Labelled(text, _says(label, text))


def _says(label: str, text: str) -> dict[str, str]:
    cves = list(dict.fromkeys(f"CVE-{match[1]}-{match[2]}" for match in CVE.finditer(text)))
    if ":" not in label:
        return dict.fromkeys(cves, label)
    pairs = (part.split(":") for part in label.split())
    return {cves[int(number) - 1]: word for word, number in pairs}


def tally(level: str) -> Tally:
    """How the sentences are read as to `wild` or `poc`."""
    found = invented = missed = 0
    wrong = []
    for each in labelled():
        read = findings_of(each.text, each.says)
        for cve, said in each.says.items():
            got = _NAMES.get(read.get(cve, {}).get("exploitation", ""), "none")
            found += got == said == level
            invented += got == level != said
            missed += said == level != got
            if level in (got, said) and got != said:
                wrong.append(f"{said} read as {got}: {cve} in {each.text}")
    return Tally(found, invented, missed, tuple(wrong))
