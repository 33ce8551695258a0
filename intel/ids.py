"""Ids derived from what they name, so that writing the same thing twice changes nothing."""

from __future__ import annotations

import hashlib
import uuid
from datetime import datetime

# Part of the contract: an IOC has the same id on every installation.
NAMESPACE = uuid.UUID("5f0c1b3e-6d0a-5b4e-9a53-2f7c4f1d8e60")
_NAMESPACE_BYTES = NAMESPACE.bytes
# The digit that tells the variant of a UUID, for the one that is in its place.
_VARIANTS = {digit: "89ab"[place % 4] for place, digit in enumerate("0123456789abcdef")}
# Owns what the command line and feeds submit. No e-mail address has this account id: those have 16 characters.
OPERATOR = "operator"
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def ioc_id(type: str, value: str) -> str:
    """Return the UUIDv5 of an indicator's type and canonical value."""
    hashed = hashlib.sha1(_NAMESPACE_BYTES + f"ioc\n{type}\n{value}".encode(), usedforsecurity=False).hexdigest()
    return f"{hashed[:8]}-{hashed[8:12]}-5{hashed[13:16]}-{_VARIANTS[hashed[16]]}{hashed[17:20]}-{hashed[20:32]}"


def ioc_id_bytes(type: str, value: str) -> bytes:
    """Return the 16 bytes of an indicator's id: as `uuid.uuid5` does, at a third of the time."""
    name = f"ioc\n{type}\n{value}".encode()
    id = bytearray(hashlib.sha1(_NAMESPACE_BYTES + name, usedforsecurity=False).digest()[:16])
    id[6] = id[6] & 0x0F | 0x50  # the version
    id[8] = id[8] & 0x3F | 0x80  # the variant
    return bytes(id)


def article_id(identity: str) -> str:
    """Return the UUIDv5 of an article's canonical URL, or of `content_identity` if it has none."""
    return str(uuid.uuid5(NAMESPACE, f"article\n{identity}"))


def content_identity(body: bytes) -> str:
    """Return the identity of an imported file, which is its bytes."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def submission_id(account_id: str, canonical_url: str) -> str:
    """Return the UUIDv5 of account and address: an account has one submission for each address."""
    return str(uuid.uuid5(NAMESPACE, f"submission\n{account_id}\n{canonical_url}"))


def refetch_id(account_id: str, article_id: str, moment: datetime) -> str:
    """Return the UUIDv5 of the account that asks to read an article again, and the minute."""
    return submission_id(account_id, f"again\n{article_id}\n{moment:%Y-%m-%dT%H:%M}")


def feedback_id(article_id: str, type: str, value: str, *, kept: bool, account_id: str) -> str:
    """Return an id that begins alike for all accounts that speak of one candidate."""
    candidate = uuid.uuid5(NAMESPACE, f"feedback\n{article_id}\n{type}\n{value}\n{kept}")
    return f"{candidate}:{account_id}"


def feed_id(canonical_url: str) -> str:
    """Return the UUIDv5 of a feed's canonical address."""
    return str(uuid.uuid5(NAMESPACE, f"feed\n{canonical_url}"))


def account_id(email: str) -> str:
    """Return 16 base-62 characters derived from the e-mail address, ignoring case."""
    digest = hashlib.sha256(f"account\n{email.strip().casefold()}".encode()).digest()
    return base62(int.from_bytes(digest, "big"), 16)


def base62(number: int, length: int) -> str:
    """Return the last `length` base-62 digits of a non-negative number."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return "".join(reversed(digits))
