"""From a document to its indicators with their evidence: pure, and the only way in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ingest.indicators.company import in_company
from ingest.indicators.deciding import Judge, Verdict
from ingest.indicators.document import Document, Place
from ingest.indicators.malware import MalwareSighting, malware_sightings
from ingest.indicators.marks import PlainText, plain_text
from ingest.indicators.sentences import sentence, sentence_end, sentence_start
from ingest.indicators.sightings import Sighting, sightings, spaced_sightings
from ingest.indicators.surroundings import Surroundings
from ingest.indicators.walking import walk
from intel.names import malware_names

MOST_INDICATORS: Final = 20_000
MOST_MALWARE_NEAR: Final = 20
SENTENCES_NEAR: Final = 2
MOST_REFUSALS: Final = 32

_HOST_OF_NOTHING: Final = Verdict(False, "host of something that is no indicator", 0)
_NAMED: Final = Verdict(True, "name of malware", 6)


class Indicator(NamedTuple):
    """One indicator of a text: `spelling` is `text[start:end]`, its first appearance that counts.

    `occurrences` are the spans of all that were kept, `rule` and `score` say why it was.
    """

    type: str
    value: str
    spelling: str
    start: int
    end: int
    place: Place
    rule: str
    score: int
    occurrences: tuple[tuple[int, int], ...]


class Candidate(NamedTuple):
    """Something that looks like an indicator, kept or not, with the rule that decided."""

    type: str
    value: str
    start: int
    end: int
    kept: bool
    rule: str
    score: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found: each (type, value) once, in order of first appearance.

    `dropped` counts the indicators beyond the limit, `limits_reached` names the limits that were hit.
    """

    document: Document
    indicators: tuple[Indicator, ...]
    limits_reached: tuple[str, ...]
    dropped: int
    _plain: PlainText = field(repr=False)
    _malware: tuple[MalwareSighting, ...] = field(repr=False)
    _judged: tuple[tuple[Sighting, Verdict], ...] = field(repr=False)

    def candidates(self) -> Iterator[Candidate]:
        """Everything that was looked at (malware names apart), in order of appearance."""
        for sighting, verdict in self._judged:
            start, end = self._plain.span(sighting.start, sighting.end)
            reading = sighting.reading
            yield Candidate(reading.type, reading.value, start, end, verdict.kept, verdict.rule, verdict.score)

    def sentence(self, indicator: Indicator) -> str:
        """The sentence that an indicator first stood in, in one line of at most 300 characters."""
        return sentence(self.document.text, indicator.start, indicator.end)

    def malware_near(self, indicator: Indicator) -> tuple[str, ...]:
        """The names of malware within two sentences of any appearance of an indicator, at most 20."""
        found: dict[str, None] = {}
        for start, end in indicator.occurrences:
            first = sentence_start(self.document.text, start, SENTENCES_NEAR + 1)
            last = sentence_end(self.document.text, end, SENTENCES_NEAR + 1)
            low = bisect_left(self._malware, first, key=lambda name: name.start)
            high = bisect_left(self._malware, last, key=lambda name: name.start)
            found.update(dict.fromkeys(name.name for name in self._malware[low:high]))
            if len(found) >= MOST_MALWARE_NEAR:
                break
        return tuple(found)[:MOST_MALWARE_NEAR]


def extract(document: Document, most_indicators: int = MOST_INDICATORS) -> Extraction:
    """The indicators of a document. Linear in the length of its text; never raises."""
    plain = plain_text(document.text)
    names = malware_names()
    walked = walk(plain.text)
    found, others = sightings(walked.places)
    seen = _in_order(found, spaced_sightings(plain.text))
    judge = Judge(Surroundings(document, plain), any(each.reading.defanged for each in seen))
    judged = _judge_all(plain.text, seen, judge)
    malware = tuple(
        MalwareSighting(each.name, *plain.span(each.start, each.end))
        for each in malware_sightings(walked, others, names)
    )
    indicators = _collect(document, plain, judged, malware)
    dropped = max(0, len(indicators) - most_indicators)
    limits = ("indicators",) if dropped else ()
    return Extraction(document, tuple(indicators[:most_indicators]), limits, dropped, plain, malware, tuple(judged))


def _in_order(found: list[Sighting], spaced: list[Sighting]) -> list[Sighting]:
    return sorted([*found, *spaced], key=lambda sighting: (sighting.start, -sighting.end)) if spaced else found


def _judge_all(text: str, seen: list[Sighting], judge: Judge) -> list[tuple[Sighting, Verdict]]:
    """Each sighting with its verdict; the host of a URL or mailbox shares its fate.

    One kept sighting settles a value, and so do many that were not: what a text repeats endlessly is not weighed anew.
    """
    judged: list[tuple[Sighting, Verdict]] = []
    settled: dict[tuple[str, str, str], Verdict] = {}
    refused: dict[tuple[str, str, str], int] = {}
    sources: set[str] = set()
    for index, sighting in enumerate(seen):
        reading = sighting.reading
        key = (reading.type, reading.value, reading.source)
        verdict = settled.get(key)
        if verdict is None:
            verdict = judge.verdict(sighting, bool(reading.remark) and in_company(text, seen, index))
            if (
                reading.source
                and verdict.kept
                and reading.source not in sources
                and not reading.source.startswith("looked")
            ):
                verdict = _HOST_OF_NOTHING
            refused[key] = refused.get(key, 0) + 1
            if verdict.kept or refused[key] >= MOST_REFUSALS:
                settled[key] = verdict
                if reading.type in ("url", "email") and verdict.kept:
                    sources.add(reading.value)
        judged.append((sighting, verdict))
    return judged


def _collect(
    document: Document, plain: PlainText, judged: list[tuple[Sighting, Verdict]], malware: tuple[MalwareSighting, ...]
) -> list[Indicator]:
    kept: dict[tuple[str, str], list[tuple[int, int, Verdict]]] = {}
    for (reading, start, end), verdict in judged:
        if verdict.kept:
            kept.setdefault((reading.type, reading.value), []).append((*plain.span(start, end), verdict))
    for name, start, end in malware:
        kept.setdefault(("malware", name), []).append((start, end, _NAMED))
    found = [_indicator(document, type, value, places) for (type, value), places in kept.items()]
    return sorted(found, key=lambda indicator: (indicator.start, indicator.end))


def _indicator(document: Document, type: str, value: str, places: list[tuple[int, int, Verdict]]) -> Indicator:
    start, end, best = places[0]
    for _, _, verdict in places:
        if verdict.score > best.score:
            best = verdict
    spans = tuple((first, last) for first, last, _ in places)
    place = document.place(start) if document.regions else "main"
    return Indicator(type, value, document.text[start:end], start, end, place, best.rule, best.score, spans)
