"""Decide which internet addresses may be fetched from.

The table is our own: Python's `is_global` calls NAT64, 6to4, multicast and some cloud metadata addresses global.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from intel.errors import ConfigurationError, RefusedUrl

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

WEB_PORTS: Final = frozenset({80, 443})

_FORBIDDEN_IPV4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",  # the host agent of a large cloud, reachable from inside only
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    )
)

# Everything outside is special: no IPv4 address embedded in an IPv6 one (mapped, NAT64, 6to4, Teredo) is let through.
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_FORBIDDEN_IPV6: Final = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))

_ENDPOINT: Final = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<four>[0-9.]{7,15})):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class FetchAllow:
    """What an operator exempts from the checks on addresses and ports: `networks` at any port, `endpoints` exactly.

    `local_names` lets names of local networks pass; no setting does.
    """

    networks: tuple[Network, ...] = ()
    endpoints: frozenset[tuple[Address, int]] = frozenset()
    local_names: bool = False

    @classmethod
    def parse(cls, text: str) -> FetchAllow:
        """Read `10.1.0.0/16, 127.0.0.1:8080, [::1]:8080`; a bare address is a network of one.

        Raises ConfigurationError naming the part that cannot be read.
        """
        networks: list[Network] = []
        endpoints: set[tuple[Address, int]] = set()
        for part in filter(None, (part.strip() for part in text.split(","))):
            try:
                endpoint = _endpoint(part)
                endpoints.add(endpoint) if endpoint else networks.append(ip_network(part))
            except ValueError:
                raise ConfigurationError(
                    f"IOC_FETCH_ALLOW: {part[:80]!r} is neither a network such as 10.1.0.0/16 nor an address:port."
                ) from None
        return cls(tuple(networks), frozenset(endpoints))

    def admits_port(self, port: int) -> bool:
        """Tell whether some exemption opens this port: a network opens all of its addresses' ports."""
        return bool(self.networks) or any(port == opened for _, opened in self.endpoints)

    def __str__(self) -> str:
        """Return the exemptions as `parse` reads them."""
        endpoints = (f"[{ip}]:{port}" if ip.version == 6 else f"{ip}:{port}" for ip, port in self.endpoints)
        return ", ".join((*map(str, self.networks), *endpoints))

    def covers(self, ip: Address, port: int) -> bool:
        """Tell whether this address and port are exempt."""
        return (ip, port) in self.endpoints or any(ip in network for network in self.networks)


def check_address(ip: Address, port: int, allow: FetchAllow) -> None:
    """Raise RefusedUrl (`blocked_address` or `blocked_port`) unless this address may be dialled at this port."""
    if allow.covers(ip, port):
        return
    if not is_public(ip):
        raise RefusedUrl("blocked_address", "Only public addresses can be fetched, and this is not one.")
    if port not in WEB_PORTS:
        raise blocked_port()


def is_public(ip: Address) -> bool:
    """Tell whether the address belongs to the public unicast internet."""
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _FORBIDDEN_IPV4)
    return ip.scope_id is None and ip in _PUBLIC_IPV6 and not any(ip in network for network in _FORBIDDEN_IPV6)


def blocked_port() -> RefusedUrl:
    """Return the refusal of any port but the two of the web."""
    return RefusedUrl("blocked_port", "Only the ports 80 and 443 are fetched from.")


def _endpoint(part: str) -> tuple[Address, int] | None:
    match = _ENDPOINT.fullmatch(part)
    if match is None:
        return None
    port = int(match["port"])
    if not 0 < port < 65536:
        raise ValueError(part)
    return ip_address(match["six"] or match["four"]), port
