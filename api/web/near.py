"""What stands near an indicator: the hosts that it is on, what is on or below it, its network, its technique."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from intel.ids import ioc_id
from intel.query import IocFilter, IocQuery, host_names, parse_search
from intel.records import Ioc
from intel.store import Store

_ON_HOSTS: Final = ("url", "domain", "email")
_MOST_PARTS: Final = 30

Names = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Near:
    """`hosts` are stored hosts that it stands on or below; `below` counts, by type, what stands on it or below it;
    `network` is its /24 or /64 with so many other `neighbours`; `whole` is the technique that it is a part of, `parts`
    are stored ones of its own.
    """

    hosts: tuple[Ioc, ...] = ()
    below: Mapping[str, int] = field(default_factory=dict)
    network: str = ""
    neighbours: int = 0
    whole: str = ""
    parts: tuple[Ioc, ...] = ()


async def near(store: Store, ioc: Ioc) -> Near:
    """Return what stands near a stored indicator."""
    if ioc.type == "mitre_attack":
        whole, dot, _ = ioc.value.partition(".")
        return Near(whole=whole) if dot else Near(parts=await _parts(store, ioc.value))
    named = ((ioc.type, ioc.value),)
    network = network_of(named)
    return Near(
        hosts=tuple(host for host in await hosts_of(store, named) if host.id != ioc.id),
        below=await _below(store, ioc) if ioc.type in ("domain", "ip") else {},
        network=network,
        neighbours=max(0, await neighbours_in(store, network) - 1),
    )


async def hosts_of(store: Store, named: Names) -> tuple[Ioc, ...]:
    """Return the stored hosts that values stand on or below, their own first."""
    hosts = dict.fromkeys(host for one in named for host in host_names(*one))
    ids = [ioc_id(type, host) for host in hosts for type in ("domain", "ip")]
    found = await store.iocs.get_many(ids)
    return tuple(found[id] for id in ids if id in found)


def network_of(named: Names) -> str:
    """Return the /24 or /64 of the first address among values; empty without one."""
    address = next((value for type, value in named if type == "ip"), "")
    return str(ipaddress.ip_network(f"{address}/{64 if ':' in address else 24}", strict=False)) if address else ""


async def neighbours_in(store: Store, network: str) -> int:
    """Return how many addresses of a network are stored."""
    if not network:
        return 0
    return (await store.iocs.find(IocQuery(text=parse_search(network), limit=1))).total or 0


async def _below(store: Store, host: Ioc) -> dict[str, int]:
    text, only = parse_search(host.value), IocFilter(types=_ON_HOSTS)
    found = (await store.iocs.facets(IocQuery(text=text, filter=only))).types
    counts = {type: found.get(type, 0) - (type == host.type) for type in _ON_HOSTS}
    return {type: count for type, count in counts.items() if count > 0}


async def _parts(store: Store, technique: str) -> tuple[Ioc, ...]:
    text, only = parse_search(f"{technique}*"), IocFilter(types=("mitre_attack",))
    found = await store.iocs.find(IocQuery(text=text, filter=only, limit=_MOST_PARTS))
    parts = (one for one in found.items if one.value.startswith(f"{technique}."))
    return tuple(sorted(parts, key=lambda one: one.value))
