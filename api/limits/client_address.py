"""Which client a request counts for: its network address, seen through the proxies that are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

UNKNOWN = "unknown"

_NAT64 = IPv6Network("64:ff9b::/96")
_LONGEST_ENTRY = 64


def client_address(peer: str | None, forwarded_for: Sequence[str], trusted: Sequence[Network]) -> str:
    """Return the client of a request, as the text that names its buckets.

    `peer` is the address at the other end of the connection, `forwarded_for` the values of every X-Forwarded-For header
    in their order, `trusted` the networks of the proxies that are believed. IPv4 stands as it is, IPv6 as its /64; a
    peer without an address (a Unix socket) is `unknown`.
    """
    address = _parse(peer or "")
    if address is None:
        return UNKNOWN
    return _bucket(_walk(address, forwarded_for, trusted))


def network_of(client: str) -> str:
    """Return the network that a client of `client_address` can likely ask from: the /24 of IPv4, the /56 of IPv6."""
    if client == UNKNOWN:
        return UNKNOWN
    network = ip_network(client)
    return str(network.supernet(new_prefix=24 if network.version == 4 else 56))


def is_trusted(peer: str, trusted: Sequence[Network]) -> bool:
    """Say whether `peer` is the address of a trusted proxy."""
    address = _parse(peer)
    return address is not None and _is_trusted(address, trusted)


def _walk(peer: Address, forwarded_for: Sequence[str], trusted: Sequence[Network]) -> Address:
    # From the right: each trusted proxy adds the address it saw, all further left is whatever the client sent.
    entries = ",".join(forwarded_for).split(",")
    client = peer
    while entries and _is_trusted(client, trusted):
        entry = _parse(entries.pop())
        if entry is None:
            break
        client = entry
    return client


def _is_trusted(address: Address, trusted: Sequence[Network]) -> bool:
    return any(address in network for network in trusted)


@lru_cache(maxsize=1024)
def _parse(text: str) -> Address | None:
    host = _without_port(text.strip())
    if len(host) > _LONGEST_ENTRY:
        return None
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _without_port(text: str) -> str:
    """Return the address alone: some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    if text.count(":") == 1:
        return text.partition(":")[0]
    return text


def _bucket(address: Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    if address in _NAT64:
        return str(IPv4Address(int(address) & 0xFFFFFFFF))
    # A single client commonly owns a whole /64 and can change its address within it at will.
    return str(IPv6Network((address, 64), strict=False))
