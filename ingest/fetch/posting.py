"""Post a message to an address that a stranger gave, under the same guard as fetching."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from ingest.fetch import wire
from ingest.fetch.addresses import FetchAllow
from ingest.fetch.limits import FetchLimits
from ingest.fetch.resolving import Resolver, SystemResolver, dialable_addresses
from ingest.fetch.urls import check_url
from intel.errors import FetchFailed

_USER_AGENT: Final = "ioc-intelligence/1.0 (saved searches)"


class Poster:
    """Posts to public addresses only, each message on a connection of its own; follows no redirect."""

    def __init__(
        self,
        allow: FetchAllow,
        limits: FetchLimits | None = None,
        *,
        resolver: Resolver | None = None,
        proxy: str | None = None,
    ) -> None:
        self._allow = allow
        self._limits = limits or FetchLimits()
        self._resolve = resolver or SystemResolver()
        self._proxy = proxy

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """Return the status of the answer, whose body is not read. Raises FetchFailed or RefusedUrl."""
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                return await self._post(url, headers, body)
        except TimeoutError:
            detail = f"The receiver did not answer within {self._limits.total_seconds:g} seconds."
            raise FetchFailed("timeout", detail, retryable=True) from None

    async def _post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        target = check_url(url, self._allow)
        try:
            addresses = await dialable_addresses(target, self._resolve, self._allow)
        except FetchFailed:
            # Where there is a proxy, often only it can resolve the names of the internet.
            if self._proxy is None:
                raise
            addresses = ()
        tls = await asyncio.to_thread(wire.public_tls) if target.scheme == "https" else None
        lines = [
            ("User-Agent", _USER_AGENT),
            *headers.items(),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        exchange = wire.exchange("POST", target, addresses, lines, tls, self._limits, self._proxy, body)
        async with exchange as response:
            return response.status
