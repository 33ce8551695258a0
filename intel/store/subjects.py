"""What articles say of subjects, which are CVEs, malware and techniques: the part of the store that focus reads.

An adapter keeps it up to date with every save and removal, so that reading it costs what there is about subjects and
not what there are indicators. Spans of time include their end and not their beginning, unless said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from intel.indicator_types import INDICATOR_TYPES

# An indicator counts as new so long after it was first seen, and an article as recent so long after it was seen.
WINDOW: Final = timedelta(days=14)
SUBJECTS: Final = tuple(sorted(kind.name for kind in INDICATOR_TYPES if kind.is_subject))
# Of these types are the indicators that a subject is shown with, and that count as new ones of a malware.
OBSERVABLES: Final = tuple(kind.name for kind in INDICATOR_TYPES if not kind.is_subject)
LEVELS: Final = ("in_the_wild", "poc")
NEWEST_MENTIONS: Final = 50
MOST_DOMAINS: Final = 20
MOST_RELATED: Final = 20


@dataclass(frozen=True, slots=True)
class Run:
    """Articles that count for one source, name one subject and say the same of it, the first and the last of them.

    All of them lie within one span of 14 days, so that one of them is recent at every moment from `first` until 14 days
    after `last`. `level` and `score` are what they say of a CVE: one of LEVELS, and the CVSS score that they state.
    """

    type: str
    value: str
    source: str
    level: str | None
    score: float | None
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class NewlyNamed:
    """How many indicators were first seen at `first_seen` and first named near a malware at `named_at`."""

    malware: str
    named_at: datetime
    first_seen: datetime
    iocs: int


@dataclass(frozen=True, slots=True)
class Asked:
    """The articles of a span that name a subject."""

    type: str
    value: str
    after: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Told:
    """What a span's articles (at least one) say of a subject, beside the runs.

    `newest` are the ids of the newest 50 articles, newest first, `domains` the first 20 of the domains that they stand
    on. `saying` and `stating` name the newest article that says each level and that states each score.
    """

    ioc_first_seen: datetime
    articles: int
    first: datetime
    last: datetime
    newest: tuple[str, ...]
    domains: tuple[str, ...]
    saying: Mapping[str, str] = field(default_factory=dict)
    stating: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beside:
    """What some articles (at most 50) name beside a subject, most articles first, then by type and value.

    `related` are the first 20 observables, of those near one malware where that was asked; `techniques` all techniques,
    each with its number of articles.
    """

    related: tuple[tuple[str, str], ...]
    techniques: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Said:
    """What an article says of a subject, as far as a run tells it."""

    level: str | None = None
    score: float | None = None


def said_in(findings: Mapping[str, Any], type: str, value: str) -> Said:
    """Return what an article's findings say of a subject; only of CVEs is anything found."""
    finding = findings.get(value) if type == "cve" else None
    if not isinstance(finding, dict):
        return Said()
    level, score = finding.get("exploitation"), (finding.get("cvss") or {}).get("score")
    return Said(level if level in LEVELS else None, float(score) if isinstance(score, int | float) else None)


def domain_of(url: str | None) -> str | None:
    """Return the domain that a page stands on, without `www.`; None for a file."""
    host = urlsplit(url).hostname if url else None
    return host.removeprefix("www.") if host else None


class Subjects(Protocol):
    """What articles say of subjects; written only through `Articles`."""

    async def runs(self, start: datetime, until: datetime, cves: Collection[str] | None = None) -> tuple[Run, ...]:
        """Return what the articles from `start` until `until` (both included) say, by type, value and source.

        With `cves`, a subject that is none of them, that one source alone names and of which no article says a level
        may be left out.
        """

    async def newly_named(self, start: datetime, until: datetime) -> tuple[NewlyNamed, ...]:
        """Return the observables first seen from `start` and first named near a malware until `until` (included), and
        within 14 days of their first sighting.
        """

    async def next_article(self, after: datetime) -> datetime | None:
        """Return when the first article after a moment was seen; None where there is none."""

    async def told(self, asked: Sequence[Asked]) -> tuple[Told | None, ...]:
        """Return what is said of each of these subjects (at most 1,000), None where no article of its span names it."""

    async def beside(self, asked: Sequence[tuple[Sequence[str], str | None]]) -> tuple[Beside, ...]:
        """Return what each of these sets of articles names, near a malware where one is given."""
