"""One TLS context for all HTTP clients of a test process: httpx reads the certificates of all authorities anew for each
client, which takes longer than most answers.
"""

from __future__ import annotations

import os
import ssl
from functools import cache
from typing import Any

import httpx
from httpx._transports import default as transports

# What httpx takes from the environment.
_READ = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def share_contexts() -> None:
    """Have httpx make each context once."""

    def shared(**asked: Any) -> ssl.SSLContext:
        return _context(*map(os.environ.get, _READ), **asked)

    transports.create_ssl_context = shared  # type: ignore[assignment, attr-defined]  # its users give names


@cache
def _context(*_read: str | None, **asked: Any) -> ssl.SSLContext:
    return httpx.create_ssl_context(**asked)
