"""Compress what no search reads, as the text that documents hold bytes as. Pure."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import orjson


def pack(content: bytes) -> str:
    """Return bytes as a document holds them."""
    return base64.b64encode(zlib.compress(content)).decode()


def unpack(packed: str) -> bytes:
    """Return the bytes that were packed."""
    return zlib.decompress(base64.b64decode(packed))


def pack_json(value: object) -> str:
    """Return a JSON value as a document holds it if nothing in it is a member of the document."""
    return pack(orjson.dumps(value))


def unpack_json(packed: str) -> Any:
    """Return the JSON value that was packed."""
    return orjson.loads(unpack(packed))
