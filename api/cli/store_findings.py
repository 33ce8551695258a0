"""What `ioc doctor` says of the store: what is in it, what waits, how old its catalogues are, and its newest record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from api.cli.finding import Finding, of_clock
from ingest.fresh_catalogues import FRESH, read_wanted
from ingest.queue.alive import count_alive
from intel.query import IocQuery
from intel.records import Catalogue, Ioc, Submission
from intel.settings import Settings
from intel.store import Store, open_store
from intel.times import utc_now

# A catalogue that was to be had once in so long has been missed twice.
_OLD: Final = 2 * FRESH
_LONG_DUE: Final = timedelta(minutes=10)
_CATALOGUES_ADVICE: Final = (
    "{process} fetches them: see its log for the reason, and whether the address in IOC_CATALOGUES can be reached;"
    " or import it by hand: ioc import {name} PATH"
)


@dataclass(frozen=True, slots=True)
class _Held:
    found: str
    waiting: int
    longest_due: Submission | None
    catalogues: Sequence[Catalogue]
    newest: Ioc | None


async def look_at_store(settings: Settings) -> list[Finding]:
    """Return what there is to say. Raises what `Store` raises, and ConfigurationError."""
    held = await _look_into(settings)
    return [
        Finding("store", True, held.found),
        *_catalogues(settings, held.catalogues),
        await _queue(settings, held),
        *_clock(held.newest),
    ]


async def _look_into(settings: Settings) -> _Held:
    store = open_store(settings)
    try:
        await store.setup()
        held = await _held(store)
        await store.check()
    finally:
        await store.close()
    return held


async def _held(store: Store) -> _Held:
    totals, catalogues = await store.totals(), await store.catalogues.all()
    waiting = sum(number for status, number in totals.submissions.items() if status in ("queued", "fetching"))
    dated = "".join(f"; {one.name} of {one.as_of:%Y-%m-%d}" for one in catalogues)
    found = f"{totals.articles} articles, {totals.iocs} indicators, {waiting} submissions under way{dated}"
    due = await store.submissions.due(utc_now(), 1)
    newest = (await store.iocs.find(IocQuery(sort="added_at", limit=1))).items
    return _Held(found, waiting, next(iter(due), None), catalogues, next(iter(newest), None))


def _catalogues(settings: Settings, held: Sequence[Catalogue]) -> list[Finding]:
    """Return those that are to be fetched once a day and were not."""
    imported_at = {each.name: each.imported_at for each in held}
    process = "`ioc worker`" if settings.served else "`ioc serve`"
    findings = []
    for name in dict.fromkeys(each.name for each in read_wanted(settings.ioc_catalogues)):
        at = imported_at.get(name)
        if at is None or utc_now() - at > _OLD:
            found = f"{name} was never fetched" if at is None else f"{name} was last fetched on {at:%Y-%m-%d}"
            findings.append(Finding("catalogues", False, found, _CATALOGUES_ADVICE.format(process=process, name=name)))
    return findings


async def _queue(settings: Settings, held: _Held) -> Finding:
    workers = await count_alive(settings.redis_address or "") if settings.served else None
    who = "" if workers is None else "; 1 worker is alive" if workers == 1 else f"; {workers or 'no'} workers are alive"
    found = f"{held.waiting} submissions wait{who}"
    start = f"Start {'one: ioc worker' if settings.served else 'the service: ioc serve'}"
    if workers == 0:
        return Finding("queue", not held.waiting, found, f"{start}. Nothing that is submitted is read without.")
    late = utc_now() - held.longest_due.due_at if held.longest_due else timedelta()
    if late <= _LONG_DUE:
        return Finding("queue", True, found)
    found += f", one of them for {late.total_seconds() / 60:.0f} minutes"
    busy = "See the log of the workers, and start more of them: ioc worker"
    return Finding("queue", False, found, busy if workers else f"{start}, or see its log.")


def _clock(newest: Ioc | None) -> list[Finding]:
    """Say so where this machine's clock stands before what was written last."""
    ahead = (newest.added_at - utc_now()).total_seconds() if newest else 0.0
    finding = of_clock("what was stored last, by whoever's clock,", ahead)
    return [] if finding.well or ahead < 0 else [finding]
