"""What is said of indicators beside their cards, read for a whole page at once: imported lists, votes, their age."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from api.noting import exported_notes
from ingest.warned import Caution as Caution
from ingest.warned import Lists, imported, lasting_cautions, listed
from intel.ageing import Age, Status, age, status_at
from intel.cards import Card, card_of
from intel.confidence import USUAL_TRUST, Evidence, confidence, rules_of
from intel.matching import Match, Reasons
from intel.notes import Note
from intel.query import SearchText
from intel.records import Ioc
from intel.store import Store
from intel.times import rfc3339_of, to_milliseconds

_ONE_READ = 1_000
# What the last members of a record go by: type, when it was last seen, its sources, whether a malware is named near it,
# warnings, votes and trust.
_Told = tuple[str, int, int, bool, tuple[Caution, ...], int, int]


@dataclass(frozen=True, slots=True)
class Annotations:
    """What is said of some indicators at `now`, by id.

    Votes and notes (those without any left out), imported lists, and the trust of the best source unless it is usual.
    `are_marked` says that a card without a mark stands on no list.
    """

    now: datetime
    false_positives: Mapping[str, int]
    imported: Mapping[str, tuple[Caution, ...]]
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)
    trusts: Mapping[str, int] = field(default_factory=dict)
    are_marked: bool = False
    _now_milliseconds: int = field(init=False)
    _completed: dict[_Told, bytes] = field(default_factory=dict, init=False)
    _matches: dict[Match, bytes] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_now_milliseconds", to_milliseconds(self.now))

    def age(self, ioc: Ioc) -> Age:
        return age(ioc.type, ioc.last_seen, self.now)

    def votes(self, ioc: Ioc) -> int:
        return self.false_positives.get(ioc.id, 0)

    def cautions(self, found: Ioc | Card) -> tuple[Caution, ...]:
        """Return every list that it stands on: what is built in, then the packaged lists, then imported ones."""
        lasting = lasting_cautions(found.type, found.value)
        return lasting + self.imported.get(found.id, ()) if self.imported else lasting

    def record(self, found: Ioc | Card, reasons: Reasons | None = None) -> orjson.Fragment:
        """Return the IOC record as JSON: its card and all that is said of it; of a search's result also how it matched.

        Every answer shows this one.
        """
        if isinstance(found, Card):
            card, cautions = found, () if self.are_marked and not found.warned else self.cautions(found)
        else:
            cautions = self.cautions(found)
            card = card_of(found, self.votes(found), warned=bool(cautions))
        notes = self.notes.get(card.id) if self.notes else None
        trust = self.trusts.get(card.id, USUAL_TRUST) if self.trusts else USUAL_TRUST
        told = (card.type, card.last_seen, card.sources, bool(card.malware), cautions, card.false_positives, trust)
        completed = self._completed.get(told)
        if completed is None:
            completed = self._completed[told] = self._completion(*told)
        said = card.json + completed
        if notes:
            said += b',"notes":' + orjson.dumps(exported_notes(notes))
        if reasons is not None:
            said += self._matched(reasons.of(card))
        return orjson.Fragment(said + b"}")

    def _matched(self, match: Match) -> bytes:
        """Return the member that tells how a search matched: most of a page match alike."""
        told = self._matches.get(match)
        if told is None:
            told = self._matches[match] = b',"match":' + orjson.dumps(match._asdict())
        return told

    def _completion(
        self,
        type: str,
        last_seen: int,
        sources: int,
        with_malware: bool,
        cautions: tuple[Caution, ...],
        false_positives: int,
        trust: int,
    ) -> bytes:
        """Return the members that tell warnings, age, votes and confidence: few differ within a page."""
        status, expires_at = status_at(type, last_seen, self._now_milliseconds)
        shown = "null" if expires_at is None else f'"{rfc3339_of(expires_at)}"'
        return b',"warnings":%b,"status":"%b","expires_at":%b%b' % (
            orjson.dumps(cautions) if cautions else b"[]",
            status.encode(),
            shown.encode(),
            _weighed(sources, with_malware, status, bool(cautions), false_positives, trust),
        )

    def evidence(self, ioc: Ioc) -> Evidence:
        """Return what the confidence in an indicator goes by."""
        status, trust = self.age(ioc).status, self.trusts.get(ioc.id, USUAL_TRUST)
        return Evidence(ioc.sources, bool(ioc.malware), status, bool(self.cautions(ioc)), self.votes(ioc), trust)

    def confidence(self, ioc: Ioc) -> int:
        return confidence(self.evidence(ioc))

    def confidence_of(self, ioc: Ioc) -> list[dict[str, Any]]:
        """Return the rules that make up the confidence in an indicator, as members of an answer."""
        rules = rules_of(self.evidence(ioc))
        return [{"rule": rule.id, "points": rule.points, "reason": rule.reason} for rule in rules]

    def members(self, ioc: Ioc) -> dict[str, Any]:
        """Return the members of the IOC record."""
        members: dict[str, Any] = orjson.loads(orjson.dumps(self.record(ioc)))
        return members

    def records(self, found: Iterable[Ioc | Card], search: SearchText | None = None) -> list[orjson.Fragment]:
        reasons = None if search is None else Reasons(search)
        return [self.record(each, reasons) for each in found]


@lru_cache(maxsize=1_024)
def _weighed(sources: int, with_malware: bool, status: Status, warned: bool, false_positives: int, trust: int) -> bytes:
    """Return the members that tell votes and the confidence that they and all else come to; many share them."""
    points = confidence(Evidence(sources, with_malware, status, warned, false_positives, trust))
    return b',"votes":{"false_positive":%d},"confidence":%d' % (false_positives, points)


async def annotate(store: Store, iocs: Sequence[Ioc], now: datetime, *, with_notes: bool = False) -> Annotations:
    """Read what is said of these indicators: one read of each kind for a page, some for a very long article.

    Notes are for accounts alone: only for who has a key or is signed in.
    """
    counts: dict[str, int] = {}
    notes: dict[str, tuple[Note, ...]] = {}
    distinct = list(dict.fromkeys(ioc.id for ioc in iocs))
    for start in range(0, len(distinct), _ONE_READ):
        some = distinct[start : start + _ONE_READ]
        counts |= await store.votes.counts(some)
        if with_notes:
            notes |= await store.notes.of(some)
    return Annotations(now, counts, await imported(store, iocs), notes, await _trusts(store, distinct))


async def annotate_cards(store: Store, cards: Sequence[Card], now: datetime, lists: Lists) -> Annotations:
    """Read what cards do not say themselves: nothing but imported lists and the trust of sources, if there are any."""
    imported = {}
    if lists.imported:
        imported = await listed(store, [card for card in cards if card.warned or not lists.marked])
    trusts = await _trusts(store, [card.id for card in cards])
    votes = {card.id: card.false_positives for card in cards}
    return Annotations(now, votes, imported, trusts=trusts, are_marked=lists.marked)


async def _trusts(store: Store, ids: Sequence[str]) -> dict[str, int]:
    trusts: dict[str, int] = {}
    for start in range(0, len(ids), _ONE_READ):
        trusts |= await store.trusts.best_of(ids[start : start + _ONE_READ])
    return trusts
