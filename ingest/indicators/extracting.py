"""From a document to its indicators with their evidence: pure, and the only way in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import merge
from typing import Final, NamedTuple

from ingest.indicators.company import in_company
from ingest.indicators.deciding import Judge, Verdict
from ingest.indicators.document import Document, Place
from ingest.indicators.malware import JudgedMalware, MalwareSighting, judge_malware, malware_sightings
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
    _judged_malware: tuple[JudgedMalware, ...] = field(repr=False)

    def candidates(self) -> Iterator[Candidate]:
        """Everything that was looked at, in order of appearance."""
        others = (
            self._candidate(each.reading.type, each.reading.value, each.start, each.end, verdict)
            for each, verdict in self._judged
        )
        named = (self._candidate("malware", *each, verdict) for each, verdict in self._judged_malware)
        yield from merge(others, named, key=lambda candidate: candidate.start)

    def _candidate(self, type: str, value: str, start: int, end: int, verdict: Verdict) -> Candidate:
        return Candidate(type, value, *self._plain.span(start, end), verdict.kept, verdict.rule, verdict.score)

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
    named = malware_sightings(walked, others, names)
    judged_malware = judge_malware(plain.text, named, names, judge.is_furniture)
    indicators = _collect(document, plain, judged, judged_malware)
    dropped = max(0, len(indicators) - most_indicators)
    return Extraction(
        document,
        tuple(indicators[:most_indicators]),
        ("indicators",) if dropped else (),
        dropped,
        plain,
        tuple(
            MalwareSighting(name, *plain.span(start, end))
            for (name, start, end), verdict in judged_malware
            if verdict.kept
        ),
        tuple(judged),
        tuple(judged_malware),
    )


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
    document: Document, plain: PlainText, judged: list[tuple[Sighting, Verdict]], malware: list[JudgedMalware]
) -> list[Indicator]:
    kept: dict[tuple[str, str], list[tuple[int, int, Verdict]]] = {}
    for (reading, start, end), verdict in judged:
        if verdict.kept:
            first, last = plain.span(start, end) if plain.removed else (start, end)
            kept.setdefault((reading.type, reading.value), []).append((first, last, verdict))
    for (name, start, end), verdict in malware:
        if verdict.kept:
            kept.setdefault(("malware", name), []).append((*plain.span(start, end), verdict))
    found = [_indicator(document, type, value, places) for (type, value), places in kept.items()]
    return sorted(found, key=lambda indicator: (indicator.start, indicator.end))


def _indicator(document: Document, type: str, value: str, places: list[tuple[int, int, Verdict]]) -> Indicator:
    start, end, best = places[0]
    for _, _, verdict in places:
        if verdict is not best and verdict.score > best.score:
            best = verdict
    spans = tuple([(first, last) for first, last, _ in places])
    place = document.place(start) if document.regions else "main"
    return Indicator(type, value, document.text[start:end], start, end, place, best.rule, best.score, spans)
