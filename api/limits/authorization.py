"""Reading the Authorization header."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import NoReturn

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]{1,255}=?=?) *")
_BASIC = re.compile(r"[Bb][Aa][Ss][Ii][Cc] +([A-Za-z0-9+/]{1,1000}=?=?) *")


class MalformedAuthorization(Exception):
    """A request says who it comes from in a way that is no single key."""


def key_in(values: Sequence[str], *, basic: bool = False) -> str | None:
    """Return the key in a request's Authorization headers, None without any.

    Anything but exactly one `Bearer <key>`, or with `basic` one `Basic` of any user with the key as password, raises
    MalformedAuthorization.
    """
    if not values:
        return None
    if len(values) > 1:
        raise MalformedAuthorization
    if match := _BEARER.fullmatch(values[0]):
        return match[1]
    return _password(values[0]) if basic else _malformed()


def _password(value: str) -> str:
    match = _BASIC.fullmatch(value)
    try:
        decoded = base64.b64decode(match[1], validate=True).decode("ascii") if match else ""
    except (binascii.Error, UnicodeDecodeError):
        decoded = ""
    _, colon, password = decoded.partition(":")
    return password if colon and password else _malformed()


def _malformed() -> NoReturn:
    raise MalformedAuthorization
