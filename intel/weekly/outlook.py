"""Read what stands beside the articles of a week: what catalogues say about its CVEs, and what was in focus."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from intel.catalogues import CveFacts, catalogue_stamp, lookup
from intel.catalogues.facts import read_kev
from intel.catalogues.parts import all_parts, entries_of
from intel.focus.items import titles_of
from intel.focus.standings import Standing, standings_of
from intel.focus.subjects import read_material as read_subjects
from intel.store import Store
from intel.store.subjects import WINDOW
from intel.store.tally import Tally
from intel.weekly.weeks import WEEK

# So long after its end a week follows what catalogues say; then only what was not imported before changes it.
_FOLLOWED_FOR = timedelta(days=7)
_KEV = "kev"
_MILLISECOND = timedelta(milliseconds=1)
# So much of what was in focus is told of.
MOST_IN_FOCUS = 50
# From here on articles decide what was in focus at the end of the week before.
LOOK_BACK = WEEK + WINDOW


@dataclass(frozen=True, slots=True)
class InFocus:
    """Something that was in focus; `type` and `value` are its indicator's. Only what is told of has a title."""

    id: str
    type: str
    value: str
    severity: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Outlook:
    """`cves` by id; `kev_added` are the CVEs that came into the KEV catalogue in the week.

    `knows_kev` says whether a KEV catalogue was imported at all. `focus` is what the week wrote of and was in focus at
    its end, as far as articles are there already; `focus_before` the same of the week before.
    """

    knows_kev: bool = False
    cves: Mapping[str, CveFacts] = field(default_factory=dict)
    kev_added: tuple[str, ...] = ()
    focus: tuple[InFocus, ...] = ()
    focus_before: tuple[InFocus, ...] = ()


async def outlook_basis(store: Store, start: datetime, now: datetime) -> str:
    """Return what the outlook of a week depends on beside its articles; for an old week only which catalogues exist."""
    if now < start + WEEK + _FOLLOWED_FOR:
        return await catalogue_stamp(store)
    return ",".join(catalogue.name for catalogue in await store.catalogues.all())


async def read_outlook(store: Store, week: Tally, start: datetime) -> Outlook:
    """Return what the catalogues say of a week, and what was in focus in it and in the week before."""
    imported = {catalogue.name: catalogue for catalogue in await store.catalogues.all()}
    kev = imported.get(_KEV)
    standing = await _in_focus(store, start)
    titles = await titles_of(store, standing[:MOST_IN_FOCUS])
    return Outlook(
        knows_kev=kev is not None,
        cves=await lookup(store, [seen.value for seen in week.top.get("cve", ())]),
        kev_added=await _kev_added(store, kev.as_of, start) if kev else (),
        focus=tuple(map(_told, standing, [*titles, *[""] * len(standing)])),
        focus_before=tuple(map(_told, await _in_focus(store, start - WEEK))),
    )


async def _in_focus(store: Store, start: datetime) -> list[Standing]:
    """Return what the week wrote of and was in focus at its end."""
    last = start + WEEK - _MILLISECOND
    material = await read_subjects(store, start - WINDOW, last)
    standings = await asyncio.to_thread(standings_of, material, start, last)
    return [one for one in standings if one.status == "active" and one.subject.last_seen >= start]


def _told(standing: Standing, title: str = "") -> InFocus:
    return InFocus(standing.id, standing.subject.type, standing.subject.key, standing.severity, title)


async def _kev_added(store: Store, as_of: datetime, start: datetime) -> tuple[str, ...]:
    parts = await store.catalogues.parts(_KEV, all_parts())
    entries = (entry for part in parts.values() for entry in entries_of(part))
    first, last = start.date(), (start + WEEK).date()
    return tuple(sorted(cve for cve, text in entries if first <= read_kev(text, as_of).date_added < last))


def exploitation(findings: list[dict[str, Any]], facts: CveFacts) -> str:
    """Return how far a CVE is exploited, by the strongest statement: kev_confirmed, in_the_wild, poc or none."""
    said = {finding.get("exploitation") for finding in findings}
    if facts.kev:
        return "kev_confirmed"
    return next((level for level in ("in_the_wild", "poc") if level in said), "none")


def cvss(findings: list[dict[str, Any]], facts: CveFacts) -> float | None:
    """Return the catalogue's score, else the highest that an article of the week states."""
    if facts.cvss:
        return facts.cvss.score
    return max((float(finding["cvss"]["score"]) for finding in findings if finding.get("cvss")), default=None)
