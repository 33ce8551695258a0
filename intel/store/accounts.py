"""The part of the store that keeps accounts, their keys and sessions."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from intel.records import Account, ApiKey, Session


class Accounts(Protocol):
    """Accounts, their API keys and sessions."""

    async def create(self, account: Account) -> Account:
        """Store a new account and return it; AccountExists where its id is taken.

        The first account that a store ever gets becomes its administrator, whatever its role says: of any number of
        sign-ups at once exactly one. In a store of a version without roles that is the earliest account.
        """

    async def get(self, id: str) -> Account | None:
        """Return the account with that id."""

    async def update(self, account: Account) -> None:
        """Replace the account; NotFound where there is none."""

    async def remove(self, id: str) -> None:
        """Delete an account with its keys and sessions, if it is there."""

    async def all(self) -> tuple[Account, ...]:
        """Return every account, by e-mail address."""

    async def add_key(self, key: ApiKey) -> bool:
        """Put a key into its slot (0 to 4, feed tokens 5 to 9); False where a live one is in it that has not expired.
        Of any number at once exactly one succeeds.
        """

    async def get_key(self, account_id: str, slot: int) -> ApiKey | None:
        """Return the key in that slot, revoked or not."""

    async def key_and_account(
        self, account_id: str, slot: int, secret_hash: str
    ) -> tuple[ApiKey | None, Account | None]:
        """Return what `get_key` and `get` do, read together, to whoever shows a key of that hash.

        Where that key is live and its account enabled, it may be what was so up to half a second ago, as far as
        another process changed it since; what this one changed holds at once.
        """

    async def keys(self, account_id: str, first_slot: int = 0) -> tuple[ApiKey, ...]:
        """Return the live keys of an account in the five slots from that one on, by slot; expired ones too."""

    async def revoke_key(self, account_id: str, slot: int, secret_hash: str, now: datetime) -> bool:
        """Revoke that very key; False where it is not live any more."""

    async def touch_key(self, key: ApiKey, now: datetime) -> None:
        """Note that the key was used; does nothing where it is not live any more."""

    async def put_session(self, session: Session) -> None:
        """Store or replace a session."""

    async def get_session(self, id: str) -> Session | None:
        """Return the session with that id."""

    async def touch_session(self, id: str, now: datetime) -> bool:
        """Note that a session was used; False (and nothing written) where it is not there any more."""

    async def end_session(self, id: str) -> None:
        """Delete a session, if it is there."""

    async def sessions(self, account_id: str) -> tuple[Session, ...]:
        """Return an account's sessions, newest first."""
