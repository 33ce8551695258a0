"""Cursors: a list's query and the place where its page ended, signed so that nobody writes one by hand."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

import orjson

from intel.errors import InvalidQuery
from intel.query import Position

_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Cursors:
    """Writes and reads cursors with one secret."""

    secret: bytes

    def __repr__(self) -> str:
        return "Cursors(secret='***')"

    def write(self, list_name: str, query: dict[str, Any], position: Position) -> str:
        """Return the cursor for the page after `position` of that list under that query (JSON values)."""
        body = orjson.dumps([list_name, query, position.values])
        return base64.urlsafe_b64encode(self._sign(body) + body).rstrip(b"=").decode()

    def read(self, list_name: str, cursor: str) -> tuple[dict[str, Any], Position]:
        """Return the query and position of a cursor. InvalidQuery where it is not one of ours for that list."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise InvalidQuery("cursor", "is not a cursor of this service") from None
        signature, body = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._sign(body)):
            raise InvalidQuery("cursor", "is not a cursor of this service")
        name, query, values = orjson.loads(body)
        if name != list_name:
            raise InvalidQuery("cursor", "belongs to another list")
        return query, Position(tuple(values))

    def _sign(self, body: bytes) -> bytes:
        return hmac.digest(self.secret, b"cursor\n" + body, hashlib.sha256)[:_SIGNATURE_BYTES]
