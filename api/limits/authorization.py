"""Reading the Authorization header."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]{1,255}=?=?) *")


class MalformedAuthorization(Exception):
    """A request says who it comes from in a way that is no single bearer key."""


def bearer_key(values: Sequence[str]) -> str | None:
    """Return the key in a request's Authorization headers, None without any.

    Anything but exactly one `Bearer <key>` raises MalformedAuthorization.
    """
    if not values:
        return None
    match = _BEARER.fullmatch(values[0])
    if len(values) > 1 or match is None:
        raise MalformedAuthorization
    return match[1]
