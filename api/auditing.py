"""Who did what: entries of the audit log are made here, and hold no secret."""

from __future__ import annotations

import getpass
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from intel.audit import AuditEntry
from intel.store import Store
from intel.times import to_milliseconds, utc_now

Action = Literal[
    "account.created",
    "account.disabled",
    "account.enabled",
    "account.password",
    "account.removed",
    "account.role",
    "account.two_factor_off",
    "account.two_factor_on",
    "article.noted",
    "article.marked",
    "article.removed",
    "article.tagged",
    "catalogue.imported",
    "domain.blocked",
    "domain.unblocked",
    "feed.added",
    "feed.checked",
    "feed.paused",
    "feed.removed",
    "feed.resumed",
    "ioc.noted",
    "ioc.tagged",
    "key.created",
    "key.revoked",
    "source.trusted",
]
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Auditing:
    """Notes what one actor does."""

    store: Store
    actor: str
    clock: Callable[[], datetime] = utc_now

    async def note(self, action: Action, target: str, detail: str = "") -> None:
        """Store that the actor did that to a target just now."""
        now = self.clock()
        id = f"{to_milliseconds(now):014d}-{secrets.token_hex(4)}"
        await self.store.audit.add(AuditEntry(id, now, self.actor, action, target[:_LONGEST], detail[:_LONGEST]))


def on_command_line(store: Store) -> Auditing:
    """Return what notes the actions of whoever runs a command."""
    return Auditing(store, f"command line ({_user()})")


async def for_account(store: Store, account_id: str, clock: Callable[[], datetime]) -> Auditing:
    """Return what notes the actions of an account that is known by its id."""
    account = await store.accounts.get(account_id)
    return Auditing(store, account.email if account else account_id, clock)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "a user without a name"
