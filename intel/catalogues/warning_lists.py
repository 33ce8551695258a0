"""Reading MISP's warning lists, and how their entries are kept: by key, so that nothing is ever scanned.

    =value        string    the whole value is this
    .host         hostname  the value's host is this, or lies below it
    198.51.100.0/24         an address within it; in parts of their own, by the address's first byte (IPv6: two bytes)
    substring               anywhere in the value; few, in one part

Each key leads to the numbers of the lists that have it; the part `lists` tells what these are. Lists of expressions
(`regex`) are left out: matching those takes time without bound.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from intel.catalogues.parsed import refuse, text_member
from intel.catalogues.parts import all_parts, entries_of, pack, split, unpack
from intel.catalogues.streams import members_of
from intel.errors import CatalogueUnreadable
from intel.indicator_types import INDICATOR_TYPES, read_from_misp
from intel.records import IOC_TYPES

LISTS_PART: Final = "lists"
SUBSTRINGS_PART: Final = "substrings"
SHORT_NETWORKS_PART: Final = "networks"
_NETWORK_PARTS: Final = (*(f"4-{n:02x}" for n in range(256)), *(f"6-{n:02x}" for n in range(64)), SHORT_NETWORKS_PART)
ALL_PARTS: Final = (LISTS_PART, SUBSTRINGS_PART, *_NETWORK_PARTS, *all_parts())

_WHAT: Final = "MISP warning list"
_LONGEST_ENTRY: Final = 500
_SHORTEST_SUBSTRING: Final = 4
_MOST_SUBSTRINGS: Final = 5_000
_MOST_LISTS: Final = 1_000
_MOST_ENTRIES: Final = 4_000_000
_HOST: Final = re.compile(r"[a-z0-9_.-]{1,253}")
# MISP's attribute types, as far as they hold indicators of ours.
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    **{theirs: (ours,) for theirs, ours in read_from_misp().items()},
    **dict.fromkeys(("ip-src|port", "ip-dst|port"), ("ip",)),
    **dict.fromkeys(("uri", "link"), ("url",)),
    "hostname|port": ("domain",),
    "domain|ip": ("domain", "ip"),
    **{
        f"filename|{theirs}": (kind.name,)
        for kind in INDICATOR_TYPES
        if kind.judgement == "hash"
        for theirs in kind.misp_types
    },
}


@dataclass(frozen=True, slots=True)
class WarningList:
    """One warning list; `kind` is string, hostname, cidr or substring, `types` the indicator types it applies to."""

    name: str
    description: str
    kind: str
    version: int
    types: tuple[str, ...]
    entries: tuple[str, ...]

    @property
    def as_of(self) -> datetime | None:
        """The day of the list's version, if the version is a day (`20261120`)."""
        try:
            return datetime.strptime(str(self.version), "%Y%m%d").replace(tzinfo=UTC)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class ListOutline:
    """A list as the part `lists` describes it."""

    name: str
    description: str
    types: tuple[str, ...]
    version: int
    entries: int


def parse_warning_list(pieces: Iterable[bytes]) -> WarningList | str:
    """Return one list, or why it is left out; raise CatalogueUnreadable if the file is no warning list or damaged."""
    about: dict[str, Any] = {}
    given: list[Any] = []
    for name, value in members_of(pieces, "list"):
        if name == "list":
            given.append(value)
        else:
            about[name] = value
    name, kind = text_member(about.get("name"), 200), about.get("type", "string")
    if not name or "list" in about or not (given or "type" in about):
        raise refuse(_WHAT, "it has no name, or no list")
    if kind not in ("string", "hostname", "cidr", "substring"):
        return f"{name}: lists of the type {text_member(kind, 40) or '?'} are left out"
    types = _types(about.get("matching_attributes"))
    if not types:
        return f"{name}: it speaks of nothing that is kept here"
    entries = tuple(dict.fromkeys(entry for each in given if (entry := _entry(kind, each))))
    if not entries:
        return f"{name}: it has no entry that can be used"
    version = about.get("version")
    description = text_member(about.get("description"), 300)
    return WarningList(name, description, kind, version if isinstance(version, int) else 0, types, entries)


def _types(attributes: Any) -> tuple[str, ...]:
    if not isinstance(attributes, list) or not attributes:
        return IOC_TYPES
    found = {type for each in attributes if isinstance(each, str) for type in _TYPES.get(each, ())}
    return tuple(type for type in IOC_TYPES if type in found)


def _entry(kind: str, value: Any) -> str | None:
    """Return an entry as it is kept, or None."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_ENTRY:
        return None
    text = value.strip().casefold()
    if not text or not text.isprintable():
        return None
    if kind == "hostname":
        host = text.removeprefix("*").strip(".")
        return host if _HOST.fullmatch(host) else None
    if kind == "cidr":
        return network_key(text)
    if kind == "substring" and len(text) < _SHORTEST_SUBSTRING:
        return None
    return text


def network_key(text: str) -> str | None:
    """Return a network in canonical form, an address as a network of one; None for anything else."""
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        return None


def network_part(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> str:
    """Return the name of the part that holds a network."""
    packed = network.network_address.packed
    if network.version == 4:
        return f"4-{packed[0]:02x}" if network.prefixlen >= 8 else SHORT_NETWORKS_PART
    return f"6-{(packed[0] * 256 + packed[1]) % 64:02x}" if network.prefixlen >= 16 else SHORT_NETWORKS_PART


class Lists:
    """Collects lists, those of a former import included, until they are written as parts."""

    def __init__(self) -> None:
        self._outlines: dict[str, ListOutline] = {}
        self._numbers: dict[str, int] = {}
        self._keys: dict[str, list[int]] = defaultdict(list)
        self._networks: dict[str, list[int]] = defaultdict(list)
        self._substrings: dict[str, list[int]] = defaultdict(list)

    @property
    def entries(self) -> int:
        """The number of entries of all lists."""
        return sum(outline.entries for outline in self._outlines.values())

    def add(self, found: WarningList) -> None:
        """Add a list; raise CatalogueUnreadable if there is no room for it."""
        number = self._number(found.name)
        self._outlines[found.name] = ListOutline(
            found.name, found.description, found.types, found.version, len(found.entries)
        )
        prefix = {"string": "=", "hostname": "."}.get(found.kind, "")
        target = {"cidr": self._networks, "substring": self._substrings}.get(found.kind, self._keys)
        for entry in found.entries:
            target[prefix + entry].append(number)
        if (
            self.entries > _MOST_ENTRIES
            or len(self._outlines) > _MOST_LISTS
            or len(self._substrings) > _MOST_SUBSTRINGS
        ):
            raise CatalogueUnreadable("The warning lists have more entries than can be kept.")

    def add_former(self, parts: Mapping[str, bytes], replaced: Iterable[str]) -> None:
        """Add the lists of a former import, except those of these names."""
        if LISTS_PART not in parts:
            return
        outlines, gone = outlines_of(parts[LISTS_PART]), set(replaced)
        renumbered = {
            number: self._number(outline.name) for number, outline in outlines.items() if outline.name not in gone
        }
        self._outlines |= {outline.name: outline for outline in outlines.values() if outline.name not in gone}
        for part, content in parts.items():
            target = self._keys
            if part in (SUBSTRINGS_PART, LISTS_PART):
                target = self._substrings
            elif part in _NETWORK_PARTS:
                target = self._networks
            for key, numbers in entries_of(content) if part != LISTS_PART else ():
                kept = [renumbered[number] for number in numbers_of(numbers) if number in renumbered]
                if kept:
                    target[key] += kept

    def parts(self) -> dict[str, bytes]:
        """Return everything as parts."""
        outlines = {
            str(self._numbers[name]): json.dumps([o.name, o.description, o.types, o.version, o.entries])
            for name, o in sorted(self._outlines.items())
        }
        found = {LISTS_PART: pack(_lines(outlines)), **split({k: _joined(v) for k, v in self._keys.items()})}
        if self._substrings:
            found[SUBSTRINGS_PART] = pack(_lines({k: _joined(v) for k, v in self._substrings.items()}))
        networks: dict[str, dict[str, str]] = defaultdict(dict)
        for key, numbers in self._networks.items():
            networks[network_part(ipaddress.ip_network(key))][key] = _joined(numbers)
        return found | {part: pack(_lines(entries)) for part, entries in networks.items()}

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))


def outlines_of(part: bytes) -> dict[int, ListOutline]:
    """Return the outlines in the part `lists`, by number."""
    found = {}
    for number, text in entries_of(part):
        name, description, types, version, entries = json.loads(text)
        found[int(number)] = ListOutline(name, description, tuple(types), version, entries)
    return found


def numbers_of(text: str) -> list[int]:
    """Return the numbers of the lists that a key leads to."""
    return [int(number) for number in text.split(",")]


def substrings_of(part: bytes) -> Iterator[tuple[str, str]]:
    """Yield each (substring, list numbers) of the part `substrings`."""
    for line in unpack(part).split("\n"):
        key, tab, numbers = line.rpartition("\t")
        if tab:
            yield key, numbers


def _joined(numbers: list[int]) -> str:
    return ",".join(map(str, dict.fromkeys(numbers)))


def _lines(entries: Mapping[str, str]) -> list[str]:
    return [f"{key}\t{entries[key]}" for key in sorted(entries)]
