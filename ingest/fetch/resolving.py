"""Resolve a host name to the addresses that may be dialled for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Final

from ingest.fetch.addresses import Address, FetchAllow, check_address
from ingest.fetch.urls import SubmittableUrl
from intel.errors import FetchFailed

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""Gives all addresses of a host name as text, best first; raises OSError where there are none."""

_THREADS: Final = 8


class SystemResolver:
    """Asks the system's resolver in threads of its own, so that a name server that stalls on purpose delays nobody
    else.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="resolver")

    async def __call__(self, host: str) -> Sequence[str]:
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _addresses_of, host)
        return list(dict.fromkeys(found))


async def dialable_addresses(url: SubmittableUrl, resolver: Resolver, allow: FetchAllow) -> tuple[Address, ...]:
    """Return every address of the URL's host, each checked: one bad answer among good ones refuses them all.

    Raises RefusedUrl (`blocked_address`, `blocked_port`) or FetchFailed (`dns_failed`).
    """
    addresses = (url.literal,) if url.literal else await _resolved(url.host, resolver)
    for address in addresses:
        check_address(address, url.port, allow)
    return addresses


async def _resolved(host: str, resolver: Resolver) -> tuple[Address, ...]:
    try:
        addresses = tuple(ip_address(text) for text in await resolver(host))
    except socket.gaierror as error:
        raise _dns_failed(retryable=error.errno == socket.EAI_AGAIN) from None
    except (OSError, ValueError):
        raise _dns_failed(retryable=True) from None
    if not addresses:
        raise _dns_failed(retryable=False)
    return addresses


def _addresses_of(host: str) -> list[str]:
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def _dns_failed(*, retryable: bool) -> FetchFailed:
    return FetchFailed("dns_failed", "The name of the site could not be resolved.", retryable=retryable)
