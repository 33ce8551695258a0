"""API keys: `ioc_` + account id and slot + `_` + 43 random characters + 6 of checksum; feed tokens: `iocfeed_` + that.

The id leads straight to two documents of the store, so that a key is checked by one read by id. A revoked one is
refused at once by the process that revoked it and on SQLite, on Elasticsearch by others within half a second. The
checksum refuses a mistyped one before any look-up. Only a SHA-256 of the whole key is kept: the secret holds 256 random
bits, which no dictionary reaches.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from intel.errors import InvalidQuery, KeyLimitReached, StoreUnavailable
from intel.ids import base62
from intel.records import FIRST_FEED_TOKEN_SLOT, KEYS_PER_ACCOUNT, SCOPES, ApiKey, Role, Scope
from intel.store import Store

log = structlog.get_logger()

LONGEST_NAME = 80
LONGEST_LIFE_DAYS = 3_650
_KEY = re.compile(r"(ioc|iocfeed)_([0-9A-Za-z]{16})([0-9])_([0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_NOTE_USE_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class KeyIdentity:
    """Whom a valid key stands for."""

    key_id: str
    account_id: str
    role: Role
    scopes: tuple[Scope, ...]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyKind:
    """What keys of a kind begin with, what people call them, and the first of the five slots that they stand in."""

    prefix: str
    name: str
    first_slot: int


API_KEYS = KeyKind("ioc", "API key", 0)
FEED_TOKENS = KeyKind("iocfeed", "feed token", FIRST_FEED_TOKEN_SLOT)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made; `secret` is the whole key, shown once and kept nowhere."""

    record: ApiKey
    secret: str

    def __repr__(self) -> str:
        return f"NewKey({self.record!r}, secret='***')"


def read_scopes(text: str) -> tuple[Scope, ...]:
    """Return the scopes that a text names, with blanks or commas between them; all where it names none.

    InvalidQuery where it names something else.
    """
    named = text.replace(",", " ").split()
    if not set(named) <= set(SCOPES):
        raise InvalidQuery("scopes", f"must be some of {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if not named or scope in named)


def read_lifetime(text: str) -> timedelta | None:
    """Return how many days a text names, as a time; None where it is blank. InvalidQuery beyond 1 to 3,650."""
    days = text.strip()
    if not days:
        return None
    if not (days.isascii() and days.isdigit() and len(days) < 6 and 1 <= int(days) <= LONGEST_LIFE_DAYS):
        raise InvalidQuery("expires_in_days", f"must be a whole number of days from 1 to {LONGEST_LIFE_DAYS:,}")
    return timedelta(days=int(days))


def key_prefix(key: ApiKey) -> str:
    """Return the part of a key that may be shown for ever."""
    kind = FEED_TOKENS if key.slot >= FEED_TOKENS.first_slot else API_KEYS
    return f"{kind.prefix}_{key.account_id}{key.slot}_…"


@dataclass(frozen=True, slots=True)
class Keys:
    """Makes, checks and revokes the keys of one kind, of all accounts."""

    store: Store
    clock: Callable[[], datetime]
    kind: KeyKind = API_KEYS

    async def create(
        self,
        account_id: str,
        name: str,
        scopes: tuple[Scope, ...] = SCOPES,
        lifetime: timedelta | None = None,
    ) -> NewKey:
        """Make a key in a free slot, for `scopes`, that expires after `lifetime`.

        KeyLimitReached where five are live, however many ask at once; one that has expired makes room.
        """
        for slot in range(self.kind.first_slot, self.kind.first_slot + KEYS_PER_ACCOUNT):
            new = self._make(account_id, slot, name, scopes, lifetime)
            if await self.store.accounts.add_key(new.record):
                log.info(f"{self.kind.name} created", account=account_id, slot=slot)
                return new
        raise KeyLimitReached(f"An account holds at most {KEYS_PER_ACCOUNT} {self.kind.name}s; revoke one first.")

    async def authenticate(self, key: str) -> KeyIdentity | None:
        """Return whom the key stands for; None where it is malformed, unknown, expired, revoked or its account
        disabled.
        """
        parts = _parse(key, self.kind)
        if parts is None:
            return None
        account_id, slot = parts
        secret_hash = _hash(key)
        record, account = await self.store.accounts.key_and_account(account_id, slot, secret_hash)
        if record is None or record.revoked_at or not hmac.compare_digest(record.secret_hash, secret_hash):
            return None
        if account is None or account.disabled_at:
            return None
        now = self.clock()
        if record.expired(now):
            return None
        await self._note_use(record, now)
        key_id = f"{account_id}-{slot}-{record.secret_hash[:12]}"
        return KeyIdentity(key_id, account_id, account.role, record.scopes, record.expires_at)

    async def revoke(self, key: ApiKey) -> bool:
        """Revoke that very key; False where it was not live any more."""
        revoked = await self.store.accounts.revoke_key(key.account_id, key.slot, key.secret_hash, self.clock())
        if revoked:
            log.info(f"{self.kind.name} revoked", account=key.account_id, slot=key.slot)
        return revoked

    async def revoke_all(self, account_id: str) -> int:
        """Revoke every live key of an account; return how many there were."""
        return sum([await self.revoke(key) for key in await self.of(account_id)])

    async def of(self, account_id: str) -> tuple[ApiKey, ...]:
        """Return the live keys of an account."""
        return await self.store.accounts.keys(account_id, self.kind.first_slot)

    def _make(
        self, account_id: str, slot: int, name: str, scopes: tuple[Scope, ...], lifetime: timedelta | None
    ) -> NewKey:
        body = f"{self.kind.prefix}_{account_id}{slot}_{base62(secrets.randbits(256), 43)}"
        secret = body + _checksum(body)
        now = self.clock()
        expires_at = now + lifetime if lifetime is not None else None
        return NewKey(ApiKey(account_id, slot, name, _hash(secret), now, expires_at=expires_at, scopes=scopes), secret)

    async def _note_use(self, key: ApiKey, now: datetime) -> None:
        if key.last_used_at is None or now - key.last_used_at >= _NOTE_USE_EVERY:
            # A key works on where the store takes no writes.
            with suppress(StoreUnavailable):
                await self.store.accounts.touch_key(key, now)


def _parse(key: str, kind: KeyKind) -> tuple[str, int] | None:
    match = _KEY.fullmatch(key)
    if match is None or match[1] != kind.prefix or _checksum(key[:-6]) != match[5]:
        return None
    return match[2], int(match[3])


def _checksum(body: str) -> str:
    return base62(zlib.crc32(body.encode()), 6)


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
