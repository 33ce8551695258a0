"""What a webhook is sent, and how it is signed: as Standard Webhooks says, so that its libraries verify it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import orjson

from intel.saved_searches import SavedSearch
from intel.times import to_milliseconds

_PREFIX: Final = "whsec_"
_SECRET_BYTES: Final = 32


def new_secret() -> str:
    """Return a secret to sign with."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def new_delivery_id(now: datetime, number: int, place: int) -> str:
    """Return an id that is greater than those of earlier deliveries of a search.

    Those of one moment stand by the `number` up to which they tell, and their `place` among those.
    """
    return f"msg_{to_milliseconds(now):012x}{number:012x}{place:04x}{secrets.token_hex(8)}"


def message(search: SavedSearch, items: Sequence[Any]) -> str:
    """Return the body that tells of these records."""
    told = {"type": "iocs.matched", "search": {"id": search.id, "name": search.name}, "items": items}
    return orjson.dumps(told).decode()


def signed_headers(id: str, secret: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of a message that is sent at this moment."""
    timestamp = str(int(now.timestamp()))
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signature = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "Content-Type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }
