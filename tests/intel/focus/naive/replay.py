"""Replay a subject's severity over time: apply the rules again wherever something changed.

Nothing is kept between runs, so anybody who has the articles and catalogues gets the same history. It changes when an
article comes or leaves the window 14 days later, when KEV lists the CVE or did so more than 14 days ago, and when an
indicator of a malware is first seen or turns 14 days old.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from intel.catalogues.facts import midnight
from intel.focus.rules import KEV_IS_NEW_DAYS, Facts, Rule, first_match
from intel.store.subjects import WINDOW
from tests.intel.focus.naive.subjects import Mention, Subject

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Change:
    """The rule that decides from this moment on; None if the subject is not in focus."""

    at: datetime
    rule: Rule | None


def mentions_at(subject: Subject, moment: datetime) -> tuple[Mention, ...]:
    """Return the articles of the 14 days up to a moment, oldest first."""
    low = bisect_right(subject.mentions, moment - WINDOW, key=lambda mention: mention.seen_at)
    high = bisect_right(subject.mentions, moment, key=lambda mention: mention.seen_at)
    return subject.mentions[low:high]


def changes(subject: Subject, since: datetime, until: datetime) -> tuple[Change, ...]:
    """Return the changes of the deciding rule from `since` (one may stand there already) to `until`, oldest first."""
    found: list[Change] = []
    for moment, facts in _states(subject, since, until):
        rule = first_match(facts)
        if rule is not (found[-1].rule if found else None):
            found.append(Change(moment, rule))
    return tuple(found)


def facts_at(subject: Subject, moment: datetime) -> Facts:
    """Return what is known of a subject at a moment."""
    *_, (_, facts) = _states(subject, moment, moment)
    return facts


def _states(subject: Subject, since: datetime, until: datetime) -> Iterator[tuple[datetime, Facts]]:
    """Yield the facts at `since` and at every later moment, up to `until`, at which they may have changed."""
    window = _Window(subject)
    later = {moment for moment in _moments(subject) if since < moment <= until}
    for moment in sorted(later | {since}):
        yield moment, window.facts(moment)


def _moments(subject: Subject) -> Iterator[datetime]:
    for mention in subject.mentions:
        yield mention.seen_at
        yield mention.seen_at + WINDOW
    for row in subject.named_near:
        yield row.seen_at
        yield row.first_seen + WINDOW
    if kev := subject.facts.kev:
        yield midnight(kev.date_added)
        yield midnight(kev.date_added) + (KEV_IS_NEW_DAYS + 1) * _DAY


class _Window:
    """The 14 days up to a moment that only moves forward, counted as articles come and go."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._come = self._gone = 0
        self._sources: Counter[str] = Counter()
        self._levels: Counter[str] = Counter()
        self._scores: Counter[float] = Counter()
        named: dict[str, datetime] = {}
        for row in subject.named_near:
            named[row.ioc_id] = min(row.seen_at, named.get(row.ioc_id, row.seen_at))
        old = {row.ioc_id: row.first_seen + WINDOW for row in subject.named_near}
        self._named = sorted(named[id] for id in named if named[id] < old[id])
        self._old = sorted(old[id] for id in named if named[id] < old[id])

    def facts(self, moment: datetime) -> Facts:
        self._move(moment)
        facts = self._subject.facts
        kev = facts.kev if facts.kev and midnight(facts.kev.date_added) <= moment else None
        stated = facts.cvss.score if facts.cvss else max(self._scores, default=None)
        return Facts(
            kind=self._subject.kind,
            sources=len(self._sources),
            new_iocs=bisect_right(self._named, moment) - bisect_right(self._old, moment),
            in_the_wild="in_the_wild" in self._levels,
            poc="poc" in self._levels,
            kev=kev is not None,
            kev_is_new=kev is not None and (moment.date() - kev.date_added).days <= KEV_IS_NEW_DAYS,
            ransomware=kev is not None and kev.ransomware,
            cvss=stated,
            epss=facts.epss.score if facts.epss else None,
        )

    def _move(self, moment: datetime) -> None:
        mentions = self._subject.mentions
        while self._come < len(mentions) and mentions[self._come].seen_at <= moment:
            self._count(mentions[self._come], 1)
            self._come += 1
        while self._gone < self._come and mentions[self._gone].seen_at <= moment - WINDOW:
            self._count(mentions[self._gone], -1)
            self._gone += 1

    def _count(self, mention: Mention, by: int) -> None:
        _add(self._sources, mention.source, by)
        if mention.level:
            _add(self._levels, mention.level, by)
        if mention.cvss and isinstance(score := mention.cvss.get("score"), int | float):
            _add(self._scores, float(score), by)


def _add(counter: Counter[Any], key: Any, by: int) -> None:
    counter[key] += by
    if not counter[key]:
        del counter[key]
