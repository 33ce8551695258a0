"""One warning list, prepared for look-ups."""

from __future__ import annotations

import ipaddress
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from intel.addresses import IPV4_BYTES, packed_address
from intel.query import host_names

Kind = Literal["host", "value", "network"]
# What a list is about where nothing else is said: an e-mail address is its user's, whatever its host.
HOST_TYPES = ("domain", "url", "ip")


@dataclass(frozen=True, slots=True)
class Ranges:
    """Numbers in ranges that neither overlap nor touch, in order."""

    firsts: Sequence[int] = ()
    lasts: Sequence[int] = ()

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self.firsts, number) - 1
        return place >= 0 and number <= self.lasts[place]


class Subject(NamedTuple):
    """An indicator as lists are asked for it: its value and host as lists write them, the host's parent domains, and
    the bytes of the address if the host is one.
    """

    type: str
    spellings: tuple[str, ...]
    hosts: tuple[str, ...]
    address: bytes | None

    @classmethod
    def of(cls, type: str, value: str) -> Subject:
        """Return the subject for an indicator in canonical form."""
        hosts = host_names(type, value)
        spellings = (value.lower(), *hosts[:1])
        if not hosts or not (hosts[0][-1:].isdigit() or ":" in hosts[0]):
            return cls(type, spellings, hosts, None)
        return cls(type, spellings, hosts, packed_address(hosts[0]))


@dataclass(frozen=True, slots=True)
class WarningList:
    """A list by its name, and why what is on it deserves a second look.

    `hosts` stand for themselves and all below them, `values` for themselves alone (lower case), `v4` and `v6` for
    addresses. Of the `types` of indicators only these are compared: domains, URLs and mailboxes by their host too.
    """

    name: str
    reason: str
    types: tuple[str, ...] = HOST_TYPES
    hosts: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    v4: Ranges = field(default_factory=Ranges)
    v6: Ranges = field(default_factory=Ranges)

    def holds(self, subject: Subject) -> bool:
        """Tell whether an indicator is on the list."""
        if subject.type not in self.types:
            return False
        if not self.values.isdisjoint(subject.spellings) or not self.hosts.isdisjoint(subject.hosts):
            return True
        address = subject.address
        return address is not None and int.from_bytes(address) in (self.v4 if len(address) == IPV4_BYTES else self.v6)


def compiled(
    name: str, reason: str, kind: Kind, entries: Iterable[str], types: Sequence[str] = HOST_TYPES
) -> WarningList:
    """Build a list from its published entries; a host may begin with a dot, and what is no network is left out."""
    texts = [entry.strip().lower() for entry in entries]
    if kind == "network":
        v4, v6 = _ranges(texts)
        return WarningList(name, reason, tuple(types), v4=v4, v6=v6)
    if kind == "host":
        return WarningList(name, reason, tuple(types), hosts=frozenset(filter(None, (t.strip(".") for t in texts))))
    return WarningList(name, reason, tuple(types), values=frozenset(filter(None, texts)))


def joined(lists: Iterable[WarningList]) -> WarningList:
    """Return one list that holds whatever any of these does."""
    every = tuple(lists)
    return WarningList(
        name="any",
        reason="",
        types=tuple({type for one in every for type in one.types}),
        hosts=frozenset().union(*(one.hosts for one in every)),
        values=frozenset().union(*(one.values for one in every)),
        v4=_merged([pair for one in every for pair in zip(one.v4.firsts, one.v4.lasts, strict=True)]),
        v6=_merged([pair for one in every for pair in zip(one.v6.firsts, one.v6.lasts, strict=True)]),
    )


def to_json(one: WarningList) -> dict[str, Any]:
    """Return a list as JSON members; ranges are the gaps and lengths between their bounds."""
    return {
        "name": one.name,
        "reason": one.reason,
        "types": list(one.types),
        "hosts": sorted(one.hosts),
        "values": sorted(one.values),
        "v4": _steps(one.v4),
        "v6": [format(step, "x") for step in _steps(one.v6)],
    }


def from_json(members: Mapping[str, Any]) -> WarningList:
    """Read a list that `to_json` wrote."""
    return WarningList(
        name=members["name"],
        reason=members["reason"],
        types=tuple(members["types"]),
        hosts=frozenset(members["hosts"]),
        values=frozenset(members["values"]),
        v4=_from_steps(members["v4"]),
        v6=_from_steps([int(step, 16) for step in members["v6"]]),
    )


def _ranges(texts: Iterable[str]) -> tuple[Ranges, Ranges]:
    found: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
    for text in texts:
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            continue
        found[network.version].append((int(network[0]), int(network[-1])))
    return _merged(found[4]), _merged(found[6])


def _merged(pairs: list[tuple[int, int]]) -> Ranges:
    firsts: list[int] = []
    lasts: list[int] = []
    for first, last in sorted(pairs):
        if lasts and first <= lasts[-1] + 1:
            lasts[-1] = max(lasts[-1], last)
        else:
            firsts.append(first)
            lasts.append(last)
    return Ranges(_packed(firsts), _packed(lasts))


def _steps(ranges: Ranges) -> list[int]:
    bounds = [bound for pair in zip(ranges.firsts, ranges.lasts, strict=True) for bound in pair]
    return [after - before for before, after in zip([0, *bounds], bounds, strict=False)]


def _from_steps(steps: Sequence[int]) -> Ranges:
    bounds = list(accumulate(steps))
    return Ranges(_packed(bounds[::2]), _packed(bounds[1::2]))


def _packed(bounds: Sequence[int]) -> Sequence[int]:
    """Return numbers in a fifth of the memory where they are those of IPv4."""
    return tuple(bounds) if bounds and bounds[-1] >= 1 << 64 else array("Q", bounds)
