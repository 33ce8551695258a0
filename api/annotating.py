"""What is said of indicators beside their cards, read for a whole page at once: imported lists, votes, their age."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from ingest.indicators.noise import warnings as noise_warnings
from intel.ageing import Age, age
from intel.cards import Card, card_of
from intel.catalogues import warnings_of
from intel.matching import reason
from intel.query import SearchText
from intel.records import Ioc
from intel.store import Store
from intel.times import from_milliseconds, rfc3339
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
    _aged: dict[tuple[str, int], bytes] = field(default_factory=dict)

    def age(self, ioc: Ioc) -> Age:
        return age(ioc.type, ioc.last_seen, self.now)

    def votes(self, ioc: Ioc) -> int:
        return self.false_positives.get(ioc.id, 0)

    def cautions(self, found: Ioc | Card) -> tuple[Caution, ...]:
        """Return every list that it stands on: what is built in, then the packaged lists, then imported ones."""
        return lasting_cautions(found.type, found.value) + self.imported.get(found.id, ())

    def record(self, found: Ioc | Card, search: SearchText | None = None) -> orjson.Fragment:
        """Return the IOC record as JSON: its card and all that is said of it; of a search's result also how it matched.

        Every answer shows this one.
        """
        card = found if isinstance(found, Card) else card_of(found, self.votes(found))
        said = b'%b,"warnings":%b,%b,"votes":{"false_positive":%d}' % (
            card.json,
            orjson.dumps(self.cautions(card)),
            self._ageing(card.type, card.last_seen),
            card.false_positives,
        )
        match = b"" if search is None else b',"match":' + orjson.dumps(reason(search, card))
        return orjson.Fragment(said + match + b"}")

    def _ageing(self, type: str, last_seen: int) -> bytes:
        """Return the members that tell the age of what was last seen then: few differ within a page."""
        members = self._aged.get((type, last_seen))
        if members is None:
            stands = age(type, from_milliseconds(last_seen), self.now)
            expires_at = rfc3339(stands.expires_at) if stands.expires_at else None
            members = orjson.dumps({"status": stands.status, "expires_at": expires_at})[1:-1]
            self._aged[type, last_seen] = members
        return members

    def members(self, ioc: Ioc) -> dict[str, Any]:
        """Return the members of the IOC record."""
        members: dict[str, Any] = orjson.loads(orjson.dumps(self.record(ioc)))
        return members

    def records(self, found: Iterable[Ioc | Card], search: SearchText | None = None) -> list[orjson.Fragment]:
        return [self.record(each, search) for each in found]


@lru_cache(maxsize=16384)
def lasting_cautions(type: str, value: str) -> tuple[Caution, ...]:
    """Return what this version of the service says of an indicator."""
    packaged = packaged_warnings(type, value)
    # What is built in of addresses is what the packaged lists say better.
    built_in = [one for one in noise_warnings(type, value) if one[0] != "addresses" or not packaged]
    return tuple(Caution(*one) for one in (*built_in, *packaged))


async def annotate(store: Store, iocs: Sequence[Ioc], now: datetime) -> Annotations:
    """Read what is said of these indicators: one read of each kind for a page, some for a very long article."""
    counts: dict[str, int] = {}
    distinct = list(dict.fromkeys(ioc.id for ioc in iocs))
    for start in range(0, len(distinct), _ONE_READ):
        counts |= await store.votes.counts(distinct[start : start + _ONE_READ])
    return Annotations(now, counts, await _imported(store, iocs))


async def annotate_cards(store: Store, cards: Sequence[Card], now: datetime) -> Annotations:
    """Read what cards do not say themselves: nothing but imported lists, if there are any."""
    return Annotations(now, {card.id: card.false_positives for card in cards}, await _imported(store, cards))


async def _imported(store: Store, found: Sequence[Ioc | Card]) -> dict[str, tuple[Caution, ...]]:
    distinct = list({each.id: each for each in found}.values())
    imported: dict[str, tuple[Caution, ...]] = {}
    for start in range(0, len(distinct), _ONE_READ):
        listed = await warnings_of(store, distinct[start : start + _ONE_READ])
        imported |= {id: tuple(Caution(one.list, one.reason) for one in found) for id, found in listed.items()}
    return imported
