"""Making accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import structlog

from api.accounts.passwords import Passwords
from ingest.fetch.urls import is_public_name
from intel.errors import InvalidQuery
from intel.ids import account_id
from intel.records import Account, Role
from intel.store import Store

log = structlog.get_logger()

_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f]{1,64}@[^\s@\x00-\x1f\x7f]{1,190}")


def check_email(email: str) -> str:
    """Return the e-mail address, trimmed. InvalidQuery where it is none."""
    email = email.strip()
    if not _EMAIL.fullmatch(email) or not email.isprintable():
        raise InvalidQuery("email", "must be an e-mail address")
    return email


def check_public_email(email: str) -> str:
    """Return the e-mail address, trimmed. InvalidQuery where it is none, or of a name that only local networks know.

    Such an address may stand for somebody who runs the machine, and only the command line makes accounts for those.
    """
    email = check_email(email)
    if not is_public_name(email.rpartition("@")[2]):
        raise InvalidQuery("email", "must be an address of the public internet, such as you@example.org")
    return email


async def create_account(
    store: Store,
    passwords: Passwords,
    clock: Callable[[], datetime],
    email: str,
    password: str,
    role: Role = "submitter",
) -> Account:
    """Store a new account and return it; the first one is an administrator whatever its role.

    InvalidQuery for a bad address or password, AccountExists where the address has an account.
    """
    email = check_email(email)
    account = await store.accounts.create(
        Account(account_id(email), email, await passwords.hash(password, email), clock(), role=role)
    )
    log.info("account created", account=account.id, role=account.role)
    return account
