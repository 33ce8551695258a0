"""Known browsers: a signed cookie tells that one has signed in to an account, so that others cannot lock it out.

It opens nothing. It ends after a year, with the account's password, and with the account.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from intel.records import Account
from intel.times import from_milliseconds, to_milliseconds

LIFETIME = timedelta(days=365)
_TOKEN = re.compile(r"([0-9]{1,15})\.([0-9a-f]{32})\.([0-9a-f]{64})")


def device_token(secret: bytes, account: Account, now: datetime) -> str:
    """Return the cookie's value for a browser that has just signed in to the account."""
    made_at, device = to_milliseconds(now), secrets.token_hex(16)
    return f"{made_at}.{device}.{_signature(secret, account, made_at, device)}"


def known_device(secret: bytes, account: Account, token: str, now: datetime) -> str | None:
    """Return which browser of the account a cookie stands for; None where it is forged, old or another account's."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    made_at, device = int(match[1]), match[2]
    if not hmac.compare_digest(match[3], _signature(secret, account, made_at, device)):
        return None
    return device if now < from_milliseconds(made_at) + LIFETIME else None


def _signature(secret: bytes, account: Account, made_at: int, device: str) -> str:
    bound_to = f"{account.id} {to_milliseconds(account.created_at)} {account.session_epoch} {made_at} {device}"
    return hmac.new(secret, b"device\n" + bound_to.encode(), hashlib.sha256).hexdigest()
