"""Matching what is added with saved searches: each addition is told once, in order, whoever dies meanwhile.

A search goes through additions by their places. What matches is written into the search itself, with the new place, in
one step; then the messages are made from there, under ids that were written with it, and the outbox is emptied. Who
dies in between leaves an outbox that the next one makes the same messages of.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
import structlog

from api.annotating import annotate_cards
from api.searches.asked import query_of
from api.searches.mail import digest
from api.searches.roundup import next_roundup, roundup, week_before
from api.searches.webhook import message, new_delivery_id
from ingest.endless import one_round
from ingest.warned import with_lists
from intel.awareness import load_lessons
from intel.errors import InvalidQuery, NotFound
from intel.query import AddedPage, AddedPosition
from intel.saved_searches import Channel, Delivery, Every, SavedSearch
from intel.store import Store
from intel.weekly import weekly

log = structlog.get_logger()

MOST_ITEMS: Final = 100
MOST_KEPT: Final = 200
_DELIVERIES_AT_ONCE: Final = 20
_MOST_PENDING: Final = 500
_MOST_IN_MAIL: Final = 50
_LOOK_SECONDS: Final = 2.0
_LEASE: Final = timedelta(seconds=60)
_SEARCHES_AT_ONCE: Final = 100
_PAGE: Final = 1_000
_PAGES_A_TURN: Final = 10
INTERVALS: Final[dict[Every, timedelta]] = {
    "now": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
}


class Matching:
    """Matches additions with saved searches. `sends_mail`: whether there is a mail server; without one none is made."""

    def __init__(self, store: Store, clock: Callable[[], datetime], base_url: str, *, sends_mail: bool) -> None:
        self._store = store
        self._clock = clock
        self._base_url = base_url
        self._sends_mail = sends_mail
        self._pages: dict[int, AddedPage] = {}

    async def follow(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await one_round(self.look, "matching saved searches")
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """Tell each search what was added since it was told last."""
        if not await self._store.searches.any_told():
            return
        newest = await self._store.iocs.newest()
        self._pages = {}
        for search in await self._store.searches.behind(newest.number, self._clock(), _SEARCHES_AT_ONCE):
            try:
                await self._tell(search, newest)
            except InvalidQuery:
                log.exception("a saved search cannot be read", search=search.id)
        self._pages = {}

    async def _tell(self, search: SavedSearch, newest: AddedPosition) -> None:
        held = await self._update(search, lease_ends_at=self._clock() + _LEASE)
        if held is None:
            return
        account = await self._store.accounts.get(held.account_id)
        # One that is not told now is looked at again when the lease has ended.
        if account is None or account.disabled_at is not None:
            return
        if held.outbox:
            held = await self._empty_outbox(held)
        if held is None or (await self._store.deliveries.count(held.id))[1] >= _MOST_PENDING:
            return
        hooked = await self._tell_webhook(held, newest)
        told = await self._tell_mail(hooked, newest) if hooked else None
        if told is not None:
            await self._update(told, lease_ends_at=None)

    async def _tell_webhook(self, search: SavedSearch, newest: AddedPosition) -> SavedSearch | None:
        place = AddedPosition(search.webhook_number, search.webhook_at)
        if search.webhook_url is None or place.number >= newest.number:
            return search
        held = search
        for _ in range(_PAGES_A_TURN):
            page = await self._page(place)
            found, place = await self._matching(search, page.ids), page.next
            if found:
                batches = [found[start : start + MOST_ITEMS] for start in range(0, len(found), MOST_ITEMS)]
                outbox = self._outbox("webhook", place.number, batches)
                full = await self._update(held, webhook_number=place.number, webhook_at=place.at, outbox=outbox)
                told = await self._empty_outbox(full) if full else None
                if told is None:
                    return None
                held = told
            if not page.more:
                break
        return replace(held, webhook_number=place.number, webhook_at=place.at)

    async def _tell_mail(self, search: SavedSearch, newest: AddedPosition) -> SavedSearch | None:
        place, now = AddedPosition(search.mail_number, search.mail_at), self._clock()
        if search.email is None or place.number >= newest.number or now < search.mail_due_at:
            return search
        if not self._sends_mail:
            return replace(search, mail_number=newest.number, mail_at=newest.at)
        if search.roundup:
            outbox = self._outbox("email", newest.number, [[]], week=week_before(now))
            due_at = next_roundup(now)
            held = await self._update(
                search, outbox=outbox, mail_number=newest.number, mail_at=newest.at, mail_due_at=due_at
            )
            return await self._empty_outbox(held) if held else None
        first, total, more = list[str](), 0, True
        while more:
            page = await self._page(place)
            found, place, more = await self._matching(search, page.ids), page.next, page.more
            first, total = (first + found)[:_MOST_IN_MAIL], total + len(found)
        due_at = now if search.every == "now" and not total else now + INTERVALS[search.every]
        outbox = self._outbox("email", place.number, [first], total=total) if total else {}
        held = await self._update(search, outbox=outbox, mail_number=place.number, mail_at=place.at, mail_due_at=due_at)
        return await self._empty_outbox(held) if held and outbox else held

    async def _page(self, place: AddedPosition) -> AddedPage:
        """Return what was added after a place; searches that were told together share it."""
        if place.number not in self._pages:
            self._pages = {place.number: await self._store.iocs.added(place, _PAGE)}
        return self._pages[place.number]

    async def _matching(self, search: SavedSearch, ids: tuple[str, ...]) -> list[str]:
        """Return those of the indicators that a search finds, in their order."""
        if not ids:
            return []
        query = query_of(search.q, search.filters, self._clock())
        found = await self._store.iocs.find_cards(replace(query, ids=ids, limit=len(ids)))
        matching = {card.id for card in found.items}
        return [id for id in ids if id in matching]

    def _outbox(self, channel: Channel, number: int, batches: Sequence[Sequence[str]], **more: Any) -> dict[str, Any]:
        now = self._clock()
        made = [{"id": new_delivery_id(now, number, place), "iocs": list(ids)} for place, ids in enumerate(batches)]
        return {"channel": channel, "batches": made, **more}

    async def _empty_outbox(self, search: SavedSearch) -> SavedSearch | None:
        """Make the messages of a search's outbox and empty it; None where somebody else changed the search."""
        channel: Channel = search.outbox["channel"]
        for batch in search.outbox["batches"]:
            make = self._mail if channel == "email" else self._hook
            body = await make(search, batch["iocs"])
            if body is None:
                continue
            now = self._clock()
            delivery = Delivery(batch["id"], search.id, search.account_id, channel, body, "pending", now, now, now)
            await self._store.deliveries.put(delivery)
        await self._forget_old(search.id)
        return await self._update(search, outbox={})

    async def _hook(self, search: SavedSearch, ids: Sequence[str]) -> str | None:
        cards, lists = await with_lists(self._store, self._store.iocs.get_cards(ids))
        there = [cards[id] for id in ids if id in cards]
        noted = await annotate_cards(self._store, there, self._clock(), lists)
        return message(search, noted.records(there)) if there else None

    async def _mail(self, search: SavedSearch, ids: Sequence[str]) -> str | None:
        if "week" in search.outbox:
            return await self._roundup(search, search.outbox["week"])
        iocs = await self._store.iocs.get_many(ids)
        there = [iocs[id] for id in ids if id in iocs]
        if not there:
            return None
        subject, text = digest(search, there, search.outbox["total"], self._base_url)
        return _letter(subject, text)

    async def _roundup(self, search: SavedSearch, id: str) -> str | None:
        try:
            week = await weekly(self._store, id, load_lessons(), self._clock())
        except NotFound:
            return None
        return _letter(*roundup(search, week, self._base_url))

    async def _forget_old(self, search_id: str) -> None:
        count, pending = await self._store.deliveries.count(search_id)
        if count - pending <= 2 * MOST_KEPT:
            return
        kept, before = 0, None
        while page := await self._store.deliveries.of(search_id, _DELIVERIES_AT_ONCE, before):
            for delivery in page:
                kept += delivery.status != "pending"
                if kept > MOST_KEPT and delivery.status != "pending":
                    await self._store.deliveries.remove(delivery.id)
            before = page[-1].id

    async def _update(self, search: SavedSearch, **changes: Any) -> SavedSearch | None:
        return await self._store.searches.update(replace(search, **changes))


def _letter(subject: str, text: str) -> str:
    return orjson.dumps({"subject": subject, "text": text}).decode()
