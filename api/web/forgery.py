"""Refusing forms that another site sends in a visitor's name.

Three rules, and all must hold: the browser does not say that the request comes from elsewhere (`Sec-Fetch-Site`), nor
that the page with the form stands elsewhere (`Origin`); and the form carries a token that only this session can show.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

TOKEN_FIELD = "form_token"  # noqa: S105 - the name of a field
_TOKEN_BYTES = 16


def comes_from_here(headers: Mapping[str, str], base_url: str | None) -> bool:
    """Tell whether the headers (lower-case names) leave no sign that another site sends this."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or _host(origin) in {headers.get("host", "").lower(), _host(base_url or "")} - {""}


def form_token(secret: bytes, session_id: str) -> str:
    """Return a token for the forms of one session, different each time.

    The mask keeps it from being guessed through the length of compressed pages.
    """
    mask = secrets.token_bytes(_TOKEN_BYTES)
    return (mask + _xor(mask, _tag(secret, session_id))).hex()


def is_form_token(secret: bytes, session_id: str, token: str) -> bool:
    """Tell whether `form_token` made it for that session."""
    try:
        raw = bytes.fromhex(token)
    except ValueError:
        return False
    mask, masked = raw[:_TOKEN_BYTES], raw[_TOKEN_BYTES:]
    return len(masked) == _TOKEN_BYTES and hmac.compare_digest(_xor(mask, masked), _tag(secret, session_id))


def _tag(secret: bytes, session_id: str) -> bytes:
    return hmac.digest(secret, b"form\n" + session_id.encode(), hashlib.sha256)[:_TOKEN_BYTES]


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _host(origin: str) -> str:
    """Return host and port of an origin; an empty text for `null` and whatever is none."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.lower() if parts.scheme in ("http", "https") else ""
