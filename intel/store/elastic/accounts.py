"""Accounts, their key slots and sessions: read by id, so that what was changed holds at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from intel.errors import AccountExists, NotFound
from intel.records import FIRST_FEED_TOKEN_SLOT, KEYS_PER_ACCOUNT, Account, ApiKey, Session
from intel.store.elastic.bulk import Bulk, Write
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import from_document, to_document
from intel.store.elastic.index import Found, Index
from intel.store.elastic.kept import Kept
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import term

# The document of the leases that names the first administrator; `until` is 0 once that account has the role.
FIRST_ADMINISTRATOR_ID = "first-administrator"
# A key is revoked for every server within a second of it.
_KEPT_SECONDS = 0.5


class _Holder(NamedTuple):
    """What was read for whoever shows a key of that hash."""

    secret_hash: str
    key: ApiKey | None
    account: Account | None

    def is_admitted(self) -> bool:
        """Tell whether the key is live and its account enabled: all else is read anew each time."""
        if self.key is None or self.account is None or self.key.secret_hash != self.secret_hash:
            return False
        return self.key.revoked_at is None and self.account.disabled_at is None


class ElasticAccounts:
    """`intel.store.port.Accounts`."""

    def __init__(self, accounts: Index, keys: Index, sessions: Index, leases: Index, bulk: Bulk) -> None:
        self._accounts = accounts
        self._keys = keys
        self._sessions = sessions
        self._leases = leases
        self._bulk = bulk
        self._holders = Kept[tuple[str, int, str], _Holder](_KEPT_SECONDS, _Holder.is_admitted)

    async def create(self, account: Account) -> Account:
        if await self._accounts.create(account.id, to_document(account)) is None:
            raise AccountExists("This e-mail address has an account already.")
        await self.appoint_first_administrator()
        return await self.get(account.id) or account

    async def appoint_first_administrator(self) -> None:
        """Give the earliest account the role, once in a store's life, and finish it where another process was cut off.

        Whoever creates the document that names an account decides which one it is.
        """
        claim = await self._leases.get(FIRST_ADMINISTRATOR_ID) or await self._claimed_administration()
        if claim is None or claim.source["until"] == 0:
            return
        account = await self.get(claim.source["holder"])
        if account is not None:
            await self.update(replace(account, role="administrator"))
        await self._leases.replace(claim, {**claim.source, "until": 0})

    async def _claimed_administration(self) -> Found | None:
        accounts = await self.all()
        if not accounts:
            return None
        first = min(accounts, key=lambda one: (one.disabled_at is not None, one.created_at, one.id))
        claim = {"holder": first.id, "until": 1}
        return await self._leases.create(FIRST_ADMINISTRATOR_ID, claim) or await self._leases.get(
            FIRST_ADMINISTRATOR_ID
        )

    async def get(self, id: str) -> Account | None:
        found = await self._accounts.get(id)
        return None if found is None else from_document(Account, found.source)

    @retried()
    async def update(self, account: Account) -> None:
        found = await self._accounts.get(account.id)
        if found is None:
            raise NotFound("There is no such account.")
        with self._holders.changing():
            if await self._accounts.replace(found, to_document(account)) is None:
                raise TryAgain

    async def remove(self, id: str) -> None:
        slots = [slot_id(id, slot) for slot in range(FIRST_FEED_TOKEN_SLOT + KEYS_PER_ACCOUNT)]
        sessions = [session.id for session in await self.sessions(id)]
        places = ((self._keys, slots), (self._sessions, sessions), (self._accounts, [id]))
        with self._holders.changing():
            await self._bulk.write_all(Write("delete", index.name, one) for index, ids in places for one in ids)

    async def all(self) -> tuple[Account, ...]:
        await self._accounts.refresh()
        pages = self._accounts.pages({}, [{"email": "asc"}, {"id": "asc"}])
        return tuple([from_document(Account, hit["_source"]) async for page in pages for hit in page])

    @retried()
    async def add_key(self, key: ApiKey) -> bool:
        id = slot_id(key.account_id, key.slot)
        if await self._keys.create(id, to_document(key)):
            return True
        found = await self._keys.get(id)
        if found is None:
            raise TryAgain
        if _is_live(found) and not from_document(ApiKey, found.source).expired(key.created_at):
            return False
        if await self._keys.replace(found, to_document(key)):
            return True
        raise TryAgain

    async def get_key(self, account_id: str, slot: int) -> ApiKey | None:
        found = await self._keys.get(slot_id(account_id, slot))
        return None if found is None else from_document(ApiKey, found.source)

    async def key_and_account(
        self, account_id: str, slot: int, secret_hash: str
    ) -> tuple[ApiKey | None, Account | None]:
        async def read() -> _Holder:
            # What is asked at the same time goes to the cluster in one request.
            key, account = await asyncio.gather(self.get_key(account_id, slot), self.get(account_id))
            return _Holder(secret_hash, key, account)

        # By the hash too: a key that was just made in the slot of a revoked one works at once.
        holder = await self._holders.get((account_id, slot, secret_hash), read)
        return holder.key, holder.account

    async def keys(self, account_id: str, first_slot: int = 0) -> tuple[ApiKey, ...]:
        ids = [slot_id(account_id, slot) for slot in range(first_slot, first_slot + KEYS_PER_ACCOUNT)]
        found = await self._keys.get_many(ids)
        return tuple(from_document(ApiKey, found[id].source) for id in ids if id in found and _is_live(found[id]))

    @retried()
    async def revoke_key(self, account_id: str, slot: int, secret_hash: str, now: datetime) -> bool:
        found = await self._keys.get(slot_id(account_id, slot))
        if found is None or not _is_live(found) or found.source["secret_hash"] != secret_hash:
            return False
        revoked = replace(from_document(ApiKey, found.source), revoked_at=now)
        with self._holders.changing():
            if await self._keys.replace(found, to_document(revoked)):
                return True
        raise TryAgain

    async def touch_key(self, key: ApiKey, now: datetime) -> None:
        found = await self._keys.get(slot_id(key.account_id, key.slot))
        if found is None or not _is_live(found) or found.source["secret_hash"] != key.secret_hash:
            return
        used = replace(from_document(ApiKey, found.source), last_used_at=now)
        # Whoever changed it meanwhile used it at this very time, or revoked it.
        with self._holders.changing():
            await self._keys.replace(found, to_document(used))

    async def put_session(self, session: Session) -> None:
        await self._bulk.write_all(
            [Write("index", self._sessions.name, session.id, to_document(session))], Patience.WRITE
        )

    async def get_session(self, id: str) -> Session | None:
        found = await self._sessions.get(id)
        return None if found is None else from_document(Session, found.source)

    @retried()
    async def touch_session(self, id: str, now: datetime) -> bool:
        found = await self._sessions.get(id)
        if found is None:
            return False
        used = replace(from_document(Session, found.source), last_used_at=now)
        if await self._sessions.replace(found, to_document(used)):
            return True
        raise TryAgain

    async def end_session(self, id: str) -> None:
        await self._bulk.write_all([Write("delete", self._sessions.name, id)], Patience.WRITE)

    async def sessions(self, account_id: str) -> tuple[Session, ...]:
        await self._sessions.refresh(Patience.REFRESH)
        own = {"query": term("account_id", account_id)}
        pages = self._sessions.pages(own, [{"created_at": "desc"}, {"id": "asc"}])
        return tuple([from_document(Session, hit["_source"]) async for page in pages for hit in page])


def slot_id(account_id: str, slot: int) -> str:
    """Return the id of the document of a key slot."""
    return f"{account_id}-{slot}"


def _is_live(key: Found) -> bool:
    return key.source["revoked_at"] is None
