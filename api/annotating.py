"""What is said of indicators beside their records, read for a whole page at once: votes, imported lists, their age."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from api import views
from ingest.indicators.noise import warnings as noise_warnings
from intel.ageing import Age, age
from intel.catalogues import warnings_of
from intel.matching import reason
from intel.query import SearchText
from intel.records import Ioc
from intel.store import Store
from intel.times import rfc3339
from intel.warninglists import packaged_warnings

_ONE_READ = 1_000


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning list that an indicator stands on, and what that means."""

    list: str
    reason: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """What is said of some indicators at `now`, by id: votes (those without any left out) and imported lists."""

    now: datetime
    false_positives: Mapping[str, int]
    imported: Mapping[str, tuple[Caution, ...]]

    def age(self, ioc: Ioc) -> Age:
        return age(ioc.type, ioc.last_seen, self.now)

    def votes(self, ioc: Ioc) -> int:
        return self.false_positives.get(ioc.id, 0)

    def cautions(self, ioc: Ioc) -> tuple[Caution, ...]:
        """Return every list that it stands on: what is built in, then the packaged lists, then imported ones."""
        return _lasting(ioc.type, ioc.value) + self.imported.get(ioc.id, ())

    def record(self, ioc: Ioc, search: SearchText | None = None) -> dict[str, Any]:
        """Return the IOC record with all of it; of a search's result also how it matched."""
        stands = self.age(ioc)
        shown = views.ioc(ioc, ((one.list, one.reason) for one in self.cautions(ioc))) | {
            "status": stands.status,
            "expires_at": rfc3339(stands.expires_at) if stands.expires_at else None,
            "votes": {"false_positive": self.votes(ioc)},
        }
        if search is None:
            return shown
        match = reason(search, ioc)
        return shown | {"match": {"how": match.how, "on": match.on}}

    def records(self, iocs: Iterable[Ioc], search: SearchText | None = None) -> list[dict[str, Any]]:
        return [self.record(ioc, search) for ioc in iocs]


@lru_cache(maxsize=16384)
def _lasting(type: str, value: str) -> tuple[Caution, ...]:
    """Return what this version of the service says of an indicator."""
    packaged = packaged_warnings(type, value)
    # What is built in of addresses is what the packaged lists say better.
    built_in = [one for one in noise_warnings(type, value) if one[0] != "addresses" or not packaged]
    return tuple(Caution(*one) for one in (*built_in, *packaged))


async def annotate(store: Store, iocs: Sequence[Ioc], now: datetime) -> Annotations:
    """Read what is said of these indicators: one read of each kind for a page, some for a very long article."""
    distinct = list({ioc.id: ioc for ioc in iocs}.values())
    counts: dict[str, int] = {}
    imported: dict[str, tuple[Caution, ...]] = {}
    for start in range(0, len(distinct), _ONE_READ):
        some = distinct[start : start + _ONE_READ]
        voted, listed = await asyncio.gather(store.votes.counts([ioc.id for ioc in some]), warnings_of(store, some))
        counts |= voted
        imported |= {id: tuple(Caution(one.list, one.reason) for one in found) for id, found in listed.items()}
    return Annotations(now, counts, imported)
