"""Replay a subject's severity over time: apply the rules again wherever something changed.

Nothing is kept between runs, so anybody who has the articles and catalogues gets the same history. It changes when the
first article of a source, or that says something, comes, when the last one is 14 days old, when KEV lists the CVE or
did so more than 14 days ago, and when indicators of a malware are first named or turn 14 days old.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Generic

from intel.catalogues.facts import midnight
from intel.focus.rules import KEV_IS_NEW_DAYS, Facts, Rule, first_match
from intel.focus.subjects import Span, Subject, T
from intel.store.subjects import WINDOW

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Change:
    """The rule that decides from this moment on; None if the subject is not in focus."""

    at: datetime
    rule: Rule | None


def changes(subject: Subject, since: datetime, until: datetime) -> tuple[Change, ...]:
    """Return the changes of the deciding rule from `since` (one may stand there already) to `until`, oldest first."""
    found: list[Change] = []
    before: Facts | None = None
    for moment, facts in _states(subject, since, until):
        if facts == before:
            continue
        before, rule = facts, first_match(facts)
        if rule is not (found[-1].rule if found else None):
            found.append(Change(moment, rule))
    return tuple(found)


def facts_at(subject: Subject, moment: datetime) -> Facts:
    """Return what is known of a subject at a moment."""
    *_, (_, facts) = _states(subject, moment, moment)
    return facts


def sources_at(subject: Subject, moment: datetime) -> list[str]:
    """Return the sources of the articles of the 14 days up to a moment, in order."""
    return sorted(span.what for span in subject.sources if span.start <= moment < span.end)


def next_change(subject: Subject, moment: datetime) -> datetime | None:
    """Return the first moment after the given one at which what is known of a subject may change by itself."""
    return min((later for later in _moments(subject) if later > moment), default=None)


def _states(subject: Subject, since: datetime, until: datetime) -> Iterator[tuple[datetime, Facts]]:
    """Yield the facts at `since` and at every later moment, up to `until`, at which they may have changed."""
    window = _Window(subject)
    later = {moment for moment in _moments(subject) if since < moment <= until}
    for moment in sorted(later | {since}):
        yield moment, window.facts(moment)


def _moments(subject: Subject) -> Iterator[datetime]:
    for said in (*subject.sources, *subject.levels):
        yield from (said.start, said.end)
    for stated in subject.scores:
        yield from (stated.start, stated.end)
    for named in subject.newly_named:
        yield named.named_at
        yield named.first_seen + WINDOW
    if kev := subject.facts.kev:
        yield midnight(kev.date_added)
        yield midnight(kev.date_added) + (KEV_IS_NEW_DAYS + 1) * _DAY


class _Window:
    """The 14 days up to a moment that only moves forward."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._sources = _Said(subject.sources)
        self._levels = _Said(subject.levels)
        self._scores = _Said(subject.scores)
        self._named = _Summed((named.named_at, named.iocs) for named in subject.newly_named)
        self._old = _Summed((named.first_seen + WINDOW, named.iocs) for named in subject.newly_named)

    def facts(self, moment: datetime) -> Facts:
        facts = self._subject.facts
        kev = facts.kev if facts.kev and midnight(facts.kev.date_added) <= moment else None
        levels = self._levels.at(moment)
        stated = facts.cvss.score if facts.cvss else max(self._scores.at(moment), default=None)
        return Facts(
            kind=self._subject.kind,
            sources=len(self._sources.at(moment)),
            new_iocs=self._named.until(moment) - self._old.until(moment),
            in_the_wild="in_the_wild" in levels,
            poc="poc" in levels,
            kev=kev is not None,
            kev_is_new=kev is not None and (moment.date() - kev.date_added).days <= KEV_IS_NEW_DAYS,
            ransomware=kev is not None and kev.ransomware,
            cvss=stated,
            epss=facts.epss.score if facts.epss else None,
        )


class _Said(Generic[T]):
    """What is said at a moment that only moves forward."""

    def __init__(self, spans: Iterable[Span[T]]) -> None:
        spans = tuple(spans)
        self._starting: list[tuple[datetime, T]] = sorted(((one.start, one.what) for one in spans), reverse=True)
        self._ending: list[tuple[datetime, T]] = sorted(((one.end, one.what) for one in spans), reverse=True)
        self._said: Counter[T] = Counter()

    def at(self, moment: datetime) -> Counter[T]:
        while self._starting and self._starting[-1][0] <= moment:
            self._said[self._starting.pop()[1]] += 1
        while self._ending and self._ending[-1][0] <= moment:
            what = self._ending.pop()[1]
            self._said[what] -= 1
            if not self._said[what]:
                del self._said[what]
        return self._said


class _Summed:
    """Numbers by the moment from which on they count."""

    def __init__(self, numbers: Iterable[tuple[datetime, int]]) -> None:
        ordered = sorted(numbers)
        self._moments = [moment for moment, _ in ordered]
        self._sums = [0, *accumulate(number for _, number in ordered)]

    def until(self, moment: datetime) -> int:
        return self._sums[bisect_right(self._moments, moment)]
