"""Collect what is known of each CVE, malware and technique that the articles of a span of time name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Final, Generic, TypeVar

from intel.catalogues import CveFacts, lookup
from intel.catalogues.notable import notable_cves
from intel.focus.rules import Facts, first_match
from intel.store import Store
from intel.store.subjects import WINDOW, NewlyNamed, Run

T = TypeVar("T", str, float)

KINDS: Final = {"cve": "cve", "malware": "malware", "mitre_attack": "technique"}
# More new indicators than any rule asks for.
_PLENTY: Final = 1_000
_NOTHING_KNOWN: Final = CveFacts()


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """From when and until when some article of the 14 days before says `what`; the end is not included."""

    what: T
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """One CVE, malware or technique: the sources that write of it, the levels and the scores that they state.

    `last_seen` is when its newest article was seen, `newly_named` are the new indicators near a malware.
    """

    type: str
    key: str
    sources: tuple[Span[str], ...]
    levels: tuple[Span[str], ...]
    scores: tuple[Span[float], ...]
    last_seen: datetime
    newly_named: tuple[NewlyNamed, ...]
    facts: CveFacts

    @property
    def kind(self) -> str:
        return KINDS[self.type]


@dataclass(frozen=True, slots=True)
class Material:
    """What focus is computed from."""

    runs: tuple[Run, ...]
    newly_named: tuple[NewlyNamed, ...]
    facts: Mapping[str, CveFacts]


async def read_material(store: Store, start: datetime, until: datetime) -> Material:
    """Return what articles seen from `start` until `until` (included) and catalogues say of subjects."""
    runs = await store.subjects.runs(start, until, await notable_cves(store))
    newly_named = await store.subjects.newly_named(start, until)
    facts = await lookup(store, dict.fromkeys(run.value for run in runs if run.type == "cve"))
    return Material(runs, newly_named, facts)


def subjects_of(material: Material) -> Iterator[Subject]:
    """Yield the subjects that a rule could match at any moment."""
    near: dict[str, list[NewlyNamed]] = defaultdict(list)
    for named in material.newly_named:
        near[named.malware].append(named)
    for (type, key), grouped in groupby(material.runs, key=attrgetter("type", "value")):
        runs = tuple(grouped)
        facts = material.facts.get(key, _NOTHING_KNOWN) if type == "cve" else _NOTHING_KNOWN
        if _may_match(type, runs, facts):
            yield _subject(type, key, runs, near.get(key, ()) if type == "malware" else (), facts)


def _may_match(type: str, runs: tuple[Run, ...], facts: CveFacts) -> bool:
    """Tell whether a rule matches when everything that is known of a subject holds at once.

    More sources, statements and scores never make a rule match less, so that what fails here fails at every moment.
    """
    levels = {run.level for run in runs}
    stated = max((run.score for run in runs if run.score is not None), default=None)
    return _some_rule_matches(
        KINDS[type],
        len({run.source for run in runs}),
        "in_the_wild" in levels,
        "poc" in levels,
        facts.kev is not None,
        facts.cvss.score if facts.cvss else stated,
        facts.epss.score if facts.epss else None,
    )


@lru_cache(4_096)
def _some_rule_matches(
    kind: str, sources: int, in_the_wild: bool, poc: bool, kev: bool, cvss: float | None, epss: float | None
) -> bool:
    return first_match(Facts(kind, sources, _PLENTY, in_the_wild, poc, kev, kev, kev, cvss, epss)) is not None


def _subject(type: str, key: str, runs: tuple[Run, ...], near: Iterable[NewlyNamed], facts: CveFacts) -> Subject:
    return Subject(
        type=type,
        key=key,
        sources=tuple(_spans((run.source, run) for run in runs)),
        levels=tuple(_spans((run.level, run) for run in runs if run.level is not None)),
        scores=tuple(_spans((run.score, run) for run in runs if run.score is not None)),
        last_seen=max(run.last for run in runs),
        newly_named=tuple(near),
        facts=facts,
    )


def _spans(runs: Iterable[tuple[T, Run]]) -> Iterator[Span[T]]:
    """Join runs that say the same and of which one begins before the articles of the other are 14 days old."""
    said: dict[T, list[Run]] = defaultdict(list)
    for what, run in runs:
        said[what].append(run)
    for what, found in said.items():
        joined: list[Span[T]] = []
        for run in sorted(found, key=attrgetter("first")):
            start, end = run.first, run.last + WINDOW
            if joined and start <= joined[-1].end:
                before = joined.pop()
                start, end = before.start, max(before.end, end)
            joined.append(Span(what, start, end))
        yield from joined
