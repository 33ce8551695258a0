"""Sessions: a signed-in browser as a record of the store, so that it can be ended from anywhere at once.

The cookie holds 256 random bits; the store holds only their SHA-256, so that nobody who reads it can sign in. A session
ends after 12 hours without use, after 7 days in any case, by signing out, and with every other one when the account's
epoch rises.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from intel.errors import StoreUnavailable
from intel.records import Account, Session
from intel.store import Store

IDLE = timedelta(hours=12)
LIFETIME = timedelta(days=7)
_NOTE_USE_EVERY = timedelta(minutes=1)
_LONGEST_USER_AGENT = 200
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Who is signed in, and by which session."""

    session: Session
    account: Account


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that was just begun; `secret` goes into the cookie and is kept nowhere."""

    signed_in: SignedIn
    secret: str

    def __repr__(self) -> str:
        return f"NewSession({self.signed_in.session.id!r}, secret='***')"


@dataclass(frozen=True, slots=True)
class Sessions:
    """Begins, finds and ends the sessions of all accounts."""

    store: Store
    clock: Callable[[], datetime]

    async def begin(self, account: Account, user_agent: str) -> NewSession:
        """Return a session under an id that nobody had before."""
        secret, now = secrets.token_urlsafe(32), self.clock()
        session = Session(
            id=_id(secret),
            account_id=account.id,
            epoch=account.session_epoch,
            created_at=now,
            last_used_at=now,
            expires_at=now + LIFETIME,
            user_agent=user_agent[:_LONGEST_USER_AGENT],
        )
        await self.store.accounts.put_session(session)
        return NewSession(SignedIn(session, account), secret)

    async def find(self, secret: str) -> SignedIn | None:
        """Return who holds that cookie; None where its session has ended or its account is disabled."""
        if not _SECRET.fullmatch(secret):
            return None
        session = await self.store.accounts.get_session(_id(secret))
        if session is None:
            return None
        account = await self.store.accounts.get(session.account_id)
        if account is None or not is_live(session, account, self.clock()):
            with suppress(StoreUnavailable):
                await self.end(session)
            return None
        return SignedIn(await self._noted(session), account)

    async def live(self, account: Account) -> tuple[Session, ...]:
        """Return the account's sessions that have not ended, newest first."""
        now = self.clock()
        return tuple(s for s in await self.store.accounts.sessions(account.id) if is_live(s, account, now))

    async def end(self, session: Session) -> None:
        """End it on every server."""
        await self.store.accounts.end_session(session.id)

    async def _noted(self, session: Session) -> Session:
        now = self.clock()
        if now - session.last_used_at < _NOTE_USE_EVERY:
            return session
        # Who is signed in stays so where the store takes no writes; an ended session does not come back.
        with suppress(StoreUnavailable):
            await self.store.accounts.touch_session(session.id, now)
        return replace(session, last_used_at=now)


def is_live(session: Session, account: Account, now: datetime) -> bool:
    """Tell whether the session of that account still counts."""
    in_time = now < session.expires_at and now < session.last_used_at + IDLE
    return in_time and session.epoch == account.session_epoch and account.disabled_at is None


def _id(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
