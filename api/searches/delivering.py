"""Delivering the messages of saved searches: again and again for a day, and no slow receiver holds up another."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import orjson
import structlog

from api.searches.mail import Mail, Mailer, MailFailed, unsubscribe_address
from api.searches.webhook import signed_headers
from ingest.endless import one_round
from ingest.fetch import Poster
from intel.errors import IngestFailed, StoreUnavailable
from intel.saved_searches import Delivery, SavedSearch
from intel.store import Store

log = structlog.get_logger()

_LOOK_SECONDS: Final = 1.0
_AT_ONCE: Final = 32
_OF_ACCOUNT: Final = 4
_DUE_AT_ONCE: Final = 500
# Longer than any attempt takes.
_LEASE: Final = timedelta(seconds=40)
_TRIED_FOR: Final = timedelta(days=1)
_SWITCHED_OFF_AFTER: Final = timedelta(days=7)
_WAITS_SECONDS: Final = (10, 60, 300, 900, 1_800, 3_600, 7_200, 14_400)
_CHANGES_TRIED: Final = 10
_GONE: Final = 410


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt: `status` is the receiver's answer, if it gave one; `error` says what went wrong."""

    status: int | None
    error: str | None


class Delivering:
    """Sends what is due; without a `mailer` mail fails."""

    def __init__(
        self, store: Store, poster: Poster, mailer: Mailer | None, clock: Callable[[], datetime], base_url: str
    ) -> None:
        self._store = store
        self._poster = poster
        self._mailer = mailer
        self._clock = clock
        self._base_url = base_url
        self._running: dict[str, asyncio.Task[None]] = {}
        self._of_account = Counter[str]()
        self._ended = asyncio.Event()

    async def follow(self) -> None:
        """Send what is due, again and again, until cancelled."""
        try:
            while True:
                self._ended.clear()
                await one_round(self._start_due, "looking for deliveries")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._ended.wait(), _LOOK_SECONDS)
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _start_due(self) -> None:
        """Start what is due: one message of a search at a time, few of an account."""
        if len(self._running) >= _AT_ONCE:
            return
        for delivery in await self._store.deliveries.due(self._clock(), _DUE_AT_ONCE):
            if len(self._running) >= _AT_ONCE:
                return
            if delivery.search_id not in self._running and self._of_account[delivery.account_id] < _OF_ACCOUNT:
                self._of_account[delivery.account_id] += 1
                self._running[delivery.search_id] = asyncio.create_task(self._run(delivery))

    async def _run(self, delivery: Delivery) -> None:
        try:
            await self.deliver(delivery.id)
        except StoreUnavailable:
            log.info("the store is out of reach; the delivery is due again later", delivery=delivery.id)
        except Exception:
            log.exception("a delivery failed in an unforeseen way", delivery=delivery.id)
        finally:
            del self._running[delivery.search_id]
            self._of_account[delivery.account_id] -= 1
            if not self._of_account[delivery.account_id]:
                del self._of_account[delivery.account_id]
            self._ended.set()

    async def deliver(self, id: str) -> None:
        """Attempt a delivery once, if it is due, and note what came of it."""
        now = self._clock()
        delivery = await self._store.deliveries.claim(id, now, now + _LEASE)
        if delivery is None:
            return
        search = await self._store.searches.get(delivery.search_id)
        if search is None:
            await self._store.deliveries.remove(delivery.id)
            return
        try:
            if why := await self._why_not(search, delivery):
                await self._store.deliveries.update(_failed(delivery, Outcome(None, why), self._clock()))
                return
            outcome = await self._attempt(search, delivery)
        except asyncio.CancelledError:
            with contextlib.suppress(StoreUnavailable):
                await self._store.deliveries.update(replace(delivery, due_at=self._clock()))
            raise
        if await self._store.deliveries.update(after(delivery, outcome, self._clock())):
            await self._note(search.id, outcome)

    async def _why_not(self, search: SavedSearch, delivery: Delivery) -> str | None:
        """Say why nothing is sent, if so."""
        account = await self._store.accounts.get(search.account_id)
        if account is None or account.disabled_at is not None:
            return "The account is disabled."
        if not search.enabled:
            return "The search is switched off."
        if delivery.channel == "webhook" and search.webhook_url is None:
            return "The search has no webhook any more."
        if delivery.channel == "email" and search.email is None:
            return "The search has no mail address any more."
        return None

    async def _attempt(self, search: SavedSearch, delivery: Delivery) -> Outcome:
        if delivery.channel == "email":
            return await self._send_mail(search, delivery)
        body = delivery.body.encode()
        headers = signed_headers(delivery.id, search.secret, body, self._clock())
        try:
            status = await self._poster.post(search.webhook_url or "", headers, body)
        except IngestFailed as failure:
            return Outcome(None, failure.detail)
        return Outcome(status, None if 200 <= status < 300 else f"The receiver answered {status}.")

    async def _send_mail(self, search: SavedSearch, delivery: Delivery) -> Outcome:
        if self._mailer is None:
            return Outcome(None, "This service has no mail server.")
        told = orjson.loads(delivery.body)
        address = unsubscribe_address(search, self._base_url)
        try:
            await self._mailer.send(Mail(search.email or "", told["subject"], told["text"], address))
        except MailFailed as failure:
            return Outcome(failure.status, failure.detail)
        return Outcome(250, None)

    async def _note(self, search_id: str, outcome: Outcome) -> None:
        """Note in the search since when its receiver fails; one that fails for a week, or is gone, is switched off."""
        for _ in range(_CHANGES_TRIED):
            search = await self._store.searches.get(search_id)
            if search is None:
                return
            noted = after_outcome(search, outcome, self._clock())
            if noted == search or await self._store.searches.update(noted):
                return


def after(delivery: Delivery, outcome: Outcome, now: datetime) -> Delivery:
    """Return a delivery after an attempt: delivered, due again after a longer wait, or failed after a day."""
    told = replace(delivery, last_status=outcome.status, last_error=outcome.error)
    if outcome.error is None:
        return replace(told, status="delivered", finished_at=now, due_at=now)
    wait = _WAITS_SECONDS[min(delivery.attempts, len(_WAITS_SECONDS)) - 1] * random.uniform(0.9, 1.1)
    due_at = now + timedelta(seconds=wait)
    if due_at > delivery.started_at + _TRIED_FOR or outcome.status == _GONE:
        return _failed(delivery, outcome, now)
    return replace(told, due_at=due_at)


def after_outcome(search: SavedSearch, outcome: Outcome, now: datetime) -> SavedSearch:
    """Return a search after an attempt to reach its receiver."""
    if outcome.error is None:
        return replace(search, first_failure_at=None)
    first = search.first_failure_at or now
    if now - first < _SWITCHED_OFF_AFTER and outcome.status != _GONE:
        return replace(search, first_failure_at=first)
    return replace(search, first_failure_at=first, enabled=False, switched_off_at=now)


def _failed(delivery: Delivery, outcome: Outcome, now: datetime) -> Delivery:
    told = replace(delivery, last_status=outcome.status, last_error=outcome.error)
    return replace(told, status="failed", finished_at=now, due_at=now)
