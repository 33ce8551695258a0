"""Tickets: sealed proof that an account's password was right a moment ago, for the form that asks for the code."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from api.accounts.boxes import Box
from intel.records import Account
from intel.store import Store
from intel.times import to_milliseconds

_PURPOSE = "sign-in"
_LIFETIME = timedelta(minutes=5)


def new_ticket(box: Box, account: Account, now: datetime) -> str:
    """Return a ticket for an account, good for five minutes and until its sessions end."""
    held = [account.id, account.session_epoch, to_milliseconds(now + _LIFETIME)]
    return box.seal(json.dumps(held).encode(), _PURPOSE)


async def account_of(box: Box, store: Store, ticket: str, now: datetime) -> Account | None:
    """Return the account of a ticket; None where that is old or none of ours, or the account is disabled."""
    opened = box.open(ticket, _PURPOSE)
    if opened is None:
        return None
    id, epoch, ends = json.loads(opened)
    account = await store.accounts.get(id)
    if account is None or account.disabled_at is not None or account.session_epoch != epoch:
        return None
    return account if to_milliseconds(now) < ends else None
