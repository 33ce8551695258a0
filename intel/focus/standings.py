"""Decide where each subject stands: its severity now, since when, and its place among the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from intel.focus.replay import Change, changes, facts_at, sources_at
from intel.focus.rules import SEVERITIES, Facts, Rule, score_parts
from intel.focus.subjects import Material, Subject, subjects_of
from intel.store.subjects import WINDOW
from intel.times import to_milliseconds

STATUSES = ("active", "stale", "closed")
STALE_FOR = 2 * WINDOW
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Standing:
    """A subject that is or lately was in focus; what it says of sources and facts holds at `moment`.

    That is now, or the last moment at which it was in focus.
    """

    subject: Subject
    status: str
    rule: Rule
    moment: datetime
    facts: Facts
    sources: tuple[str, ...]
    history: tuple[Change, ...]

    @property
    def id(self) -> str:
        return f"f_{self.subject.kind}_{self.subject.key}"

    @property
    def severity(self) -> str:
        return self.rule.severity

    @property
    def score_parts(self) -> dict[str, int]:
        return score_parts(self.severity, self.facts)

    @property
    def changed_at(self) -> datetime:
        return self.history[-1].at

    @property
    def place(self) -> tuple[int, int, int, int, str]:
        """Where it stands in the list, so that paging goes on from there while others come and go."""
        score, changed_at = sum(self.score_parts.values()), to_milliseconds(self.changed_at)
        return STATUSES.index(self.status), SEVERITIES.index(self.severity), -score, -changed_at, self.id


def standings_of(material: Material, since: datetime, now: datetime) -> tuple[Standing, ...]:
    """Return the subjects that are or were in focus at `now`, in order; their history begins at `since`."""
    found = (standing for subject in subjects_of(material) for standing in _standing(subject, since, now))
    return tuple(sorted(found, key=lambda standing: standing.place))


def _standing(subject: Subject, since: datetime, now: datetime) -> Iterator[Standing]:
    """Yield the subject's standing, if it has one."""
    history = changes(subject, since, now)
    if not history:
        return
    active = history[-1].rule is not None
    # A subject that has left focus is shown as it stood at its last moment in focus.
    moment = now if active else history[-1].at - _MILLISECOND
    rule = history[-1].rule or history[-2].rule
    sources = sources_at(subject, moment)
    if rule is not None and sources:
        status = "active" if active else _ended_status(subject, now)
        yield Standing(subject, status, rule, moment, facts_at(subject, moment), tuple(sources), history)


def _ended_status(subject: Subject, now: datetime) -> str:
    """Return stale if the last article is more than 14 days old, closed after 28 days or if no rule matches any
    more.
    """
    return "stale" if now - STALE_FOR < subject.last_seen <= now - WINDOW else "closed"
