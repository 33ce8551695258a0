"""Ask a provider of identities, under the guard of fetching; the operator's own issuer alone may stand anywhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_network
from typing import Any, Final
from urllib.parse import urlencode

from ingest.fetch import wire
from ingest.fetch.addresses import FetchAllow
from ingest.fetch.limits import FetchLimits
from ingest.fetch.resolving import Resolver, SystemResolver, dialable_addresses
from ingest.fetch.urls import SubmittableUrl, check_url
from intel.errors import FetchFailed, RefusedUrl

_LARGEST_ANSWER: Final = 1_000_000
_SECONDS: Final = 15.0
_EVERYWHERE: Final = FetchAllow((ip_network("0.0.0.0/0"), ip_network("::/0")), local_names=True)


class Provider:
    """Asks the issuer, and the addresses that it names: those of other origins must be public and https."""

    def __init__(self, issuer: str, allow: FetchAllow, *, resolver: Resolver | None = None) -> None:
        """Raises RefusedUrl for an issuer that is no web address."""
        self._issuer = check_url(issuer, _EVERYWHERE)
        self._allow = allow
        self._resolve = resolver or SystemResolver()

    async def ask(
        self, url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Return the JSON object at an address, or the answer to a form that is posted to it; no redirect is followed.

        Raises FetchFailed or RefusedUrl.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                return _object(await self._ask(url, form, headers or {}))
        except TimeoutError:
            raise FetchFailed("timeout", "The provider did not answer in time.", retryable=True) from None

    async def _ask(self, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]) -> bytes:
        target, allow = self._target(url)
        addresses = await dialable_addresses(target, self._resolve, allow)
        tls = await asyncio.to_thread(wire.public_tls) if target.scheme == "https" else None
        body = urlencode(form).encode() if form is not None else b""
        lines = [
            *headers.items(),
            ("Accept", "application/json"),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
        ]
        if form is not None:
            lines += [("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", str(len(body)))]
        method = "GET" if form is None else "POST"
        limits = replace(FetchLimits(), total_seconds=_SECONDS)
        async with wire.exchange(method, target, addresses, lines, tls, limits, None, body) as answer:
            if answer.status != 200:
                raise FetchFailed("bad_answer", f"The provider answered {answer.status}.")
            return await _read(answer)

    def _target(self, url: str) -> tuple[SubmittableUrl, FetchAllow]:
        target = check_url(url, _EVERYWHERE)
        if (target.scheme, target.host, target.port) == (self._issuer.scheme, self._issuer.host, self._issuer.port):
            return target, _EVERYWHERE
        if target.scheme != "https":
            raise RefusedUrl("unsupported_scheme", "The provider names an address that is not https.")
        return check_url(url, self._allow), self._allow


async def _read(answer: wire.Response) -> bytes:
    body = bytearray()
    async for piece in answer.pieces():
        body += piece
        if len(body) > _LARGEST_ANSWER:
            raise FetchFailed("body_too_large", "The provider's answer is too large.")
    return bytes(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise FetchFailed("bad_answer", "The provider's answer is no JSON object.")
    return parsed
