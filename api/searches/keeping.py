"""Saving, changing and removing searches in an account's name, from REST and from pages."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from api.accounts.sign_up import check_email
from api.searches.asked import query_of
from api.searches.matching import INTERVALS
from api.searches.roundup import next_roundup
from api.searches.webhook import new_secret
from ingest.fetch import FetchAllow, check_url
from intel.errors import InvalidQuery, NotFound, RefusedUrl, StoreUnavailable
from intel.saved_searches import Delivery, SavedSearch
from intel.store import Store

MOST_SEARCHES: Final = 50
FILTERS: Final = (
    "type", "source", "malware", "tag", "tlp", "since", "until", "added_since", "status", "exclude", "min_sources",
    "roundup",
)  # fmt: skip
_NAMES: Final = ("source", "malware", "tag")
_SEVERAL: Final = ("type", "tlp", "status", "exclude", *_NAMES)
_LONGEST_EMAIL: Final = 254
_TRIED: Final = 10
_GONE: Final = "Your account has no saved search with this id."


@dataclass(frozen=True, slots=True)
class Keeping:
    """Keeps the saved searches of one account."""

    store: Store
    account_id: str
    fetch_allow: FetchAllow
    clock: Callable[[], datetime]

    async def save(self, asked: dict[str, Any]) -> SavedSearch:
        """Store a new search and return it: nothing of what is stored already is ever told. Raises InvalidQuery and
        SearchLimitReached.
        """
        now = self.clock()
        newest = await self.store.iocs.newest()
        search = SavedSearch(
            id=str(uuid.uuid4()),
            account_id=self.account_id,
            name="",
            created_at=now,
            secret=new_secret(),
            mail_token=secrets.token_urlsafe(24),
            webhook_number=newest.number,
            webhook_at=newest.at,
            mail_number=newest.number,
            mail_at=newest.at,
            mail_due_at=now,
        )
        search = self._changed(search, asked, now)
        await self.store.searches.add(replace(search, mail_due_at=_first_mail(search, now)), MOST_SEARCHES)
        return await self.get(search.id)

    async def get(self, id: str) -> SavedSearch:
        """Return one of the account's searches. Raises NotFound."""
        search = await self.store.searches.get(id)
        if search is None or search.account_id != self.account_id:
            raise NotFound(_GONE)
        return search

    async def all(self) -> tuple[SavedSearch, ...]:
        """Return the account's searches, by creation."""
        return await self.store.searches.of(self.account_id)

    async def change(self, id: str, asked: dict[str, Any]) -> SavedSearch:
        """Change the given members. A receiver that was not told before hears of what is added from now on."""
        for _ in range(_TRIED):
            search, now = await self.get(id), self.clock()
            changed = self._changed(search, asked, now)
            newest = await self.store.iocs.newest()
            if _begins(changed.webhook_url, search.webhook_url, search, changed):
                changed = replace(changed, webhook_number=newest.number, webhook_at=newest.at)
            if _begins(changed.email, search.email, search, changed) or _rhythm(changed) != _rhythm(search):
                changed = replace(changed, mail_due_at=_first_mail(changed, now))
            if _begins(changed.email, search.email, search, changed):
                changed = replace(changed, mail_number=newest.number, mail_at=newest.at)
            if written := await self.store.searches.update(changed):
                return written
        raise StoreUnavailable("the saved search is being changed by others")

    async def remove(self, id: str) -> None:
        """Delete one of the account's searches with its deliveries. Raises NotFound."""
        if not await self.store.searches.remove((await self.get(id)).id):
            raise NotFound(_GONE)

    async def again(self, id: str, delivery_id: str) -> Delivery:
        """Have a delivery attempted again, now and for another day. Raises NotFound."""
        search = await self.get(id)
        for _ in range(_TRIED):
            delivery = await self.store.deliveries.get(delivery_id)
            if delivery is None or delivery.search_id != search.id:
                raise NotFound("This saved search has no delivery with this id.")
            now = self.clock()
            due = replace(delivery, status="pending", started_at=now, due_at=now, finished_at=None)
            if await self.store.deliveries.update(due):
                return due
        raise StoreUnavailable("the delivery is being made")

    def _changed(self, search: SavedSearch, asked: dict[str, Any], now: datetime) -> SavedSearch:
        """Return the search with these members, checked. Raises InvalidQuery."""
        filters: dict[str, Any] = search.filters | {
            name: _filter(name, asked[name]) for name in FILTERS if name in asked
        }
        members = {name: asked[name] for name in ("name", "q", "every", "enabled") if name in asked}
        changed = replace(search, **members, filters={name: value for name, value in filters.items() if value})
        query_of(changed.q, changed.filters, now)
        if "webhook_url" in asked:
            changed = replace(changed, webhook_url=self._webhook(asked["webhook_url"]))
        if "email" in asked:
            changed = replace(changed, email=_email(asked["email"]))
        if asked.get("enabled"):
            changed = replace(changed, switched_off_at=None, first_failure_at=None)
        return changed

    def _webhook(self, url: str | None) -> str | None:
        if not url:
            return None
        try:
            return str(check_url(url, self.fetch_allow))
        except RefusedUrl as refused:
            raise InvalidQuery("webhook_url", refused.detail) from None


def _filter(name: str, given: Any) -> Any:
    """Return a filter as it is kept: what can be several as a list of texts, each once."""
    if name not in _SEVERAL or given is None:
        return given
    texts = [given] if isinstance(given, str) else given
    if name not in _NAMES:
        texts = [word for text in texts for word in text.split(",")]
    return list(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _begins(receiver: str | None, before: str | None, search: SavedSearch, changed: SavedSearch) -> bool:
    """Tell whether somebody is told from now on who was not before."""
    return receiver is not None and (before is None or (changed.enabled and not search.enabled))


def _rhythm(search: SavedSearch) -> tuple[str, bool]:
    return search.every, search.roundup


def _first_mail(search: SavedSearch, now: datetime) -> datetime:
    if search.roundup:
        return next_roundup(now)
    return now if search.every == "now" else now + INTERVALS[search.every]


def _email(email: str | None) -> str | None:
    if not email:
        return None
    if len(email) > _LONGEST_EMAIL:
        raise InvalidQuery("email", f"must have at most {_LONGEST_EMAIL} characters")
    return check_email(email)
