"""Find the imported warning lists that an indicator is on."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from intel.catalogues.parts import find, part_of, unpack
from intel.catalogues.warning_lists import (
    LISTS_PART,
    SUBSTRINGS_PART,
    network_part,
    numbers_of,
    outlines_of,
    substrings_of,
)
from intel.store import Store

_MOST_LABELS = 30
_LONGEST_REASON = 300

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class ListWarning:
    """An indicator is on a list; `entry` is the list's own entry, `reason` the sentence for a person."""

    list: str
    entry: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Key:
    """Something that a list may hold: its part, its key, and how the entry is written."""

    part: str
    key: str
    entry: str


class Indicator(Protocol):
    """Whatever tells an indicator's id, type and value."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def value(self) -> str: ...


async def warnings_of(store: Store, iocs: Iterable[Indicator]) -> dict[str, tuple[ListWarning, ...]]:
    """Return, by indicator id, the imported warning lists it is on, by name; indicators on none are left out."""
    catalogue = "warninglist"
    asked = {ioc.id: ioc for ioc in iocs}
    if not asked:
        return {}
    # In threads: an address stands in many networks, and lists are long.
    keys = await asyncio.to_thread(lambda: {id: tuple(_keys(ioc.type, ioc.value)) for id, ioc in asked.items()})
    wanted = {key.part for found in keys.values() for key in found} | {LISTS_PART, SUBSTRINGS_PART}
    parts = await store.catalogues.parts(catalogue, sorted(wanted))
    if LISTS_PART not in parts:
        return {}
    return await asyncio.to_thread(_found, parts, asked, keys)


def _found(
    parts: Mapping[str, bytes], asked: Mapping[str, Indicator], keys: Mapping[str, tuple[_Key, ...]]
) -> dict[str, tuple[ListWarning, ...]]:
    lists = _Lists(parts)
    found = {id: lists.warnings(ioc.type, ioc.value, keys[id]) for id, ioc in asked.items()}
    return {id: warnings for id, warnings in found.items() if warnings}


class _Lists:
    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self._outlines = outlines_of(parts[LISTS_PART])
        self._substrings = [*substrings_of(parts[SUBSTRINGS_PART])] if SUBSTRINGS_PART in parts else []
        others = (part for part in parts if part not in (LISTS_PART, SUBSTRINGS_PART))
        self._parts = {part: unpack(parts[part]) for part in others}

    def warnings(self, type: str, value: str, keys: Iterable[_Key]) -> tuple[ListWarning, ...]:
        entries: dict[str, ListWarning] = {}
        for entry, numbers in self._found(value.casefold(), keys):
            for number in numbers_of(numbers):
                outline = self._outlines.get(number)
                if outline is not None and type in outline.types:
                    told = f"It stands on this list as {entry}. {outline.description}".strip()[:_LONGEST_REASON]
                    entries.setdefault(outline.name, ListWarning(outline.name, entry, told))
        return tuple(entries[name] for name in sorted(entries))

    def _found(self, value: str, keys: Iterable[_Key]) -> Iterator[tuple[str, str]]:
        for key in keys:
            numbers = find(self._parts.get(key.part, ""), key.key)
            if numbers is not None:
                yield key.entry, numbers
        yield from ((text, numbers) for text, numbers in self._substrings if text in value)


def _keys(type: str, value: str) -> Iterator[_Key]:
    """Return every key under which a list may hold an indicator, the most specific first."""
    text = value.casefold()
    yield _Key(part_of(f"={text}"), f"={text}", value)
    host = _host(type, text)
    address = _address(host)
    if address is not None:
        yield from _networks(address)
    elif host:
        labels = host.split(".")
        for start in range(max(0, len(labels) - _MOST_LABELS), len(labels)):
            parent = ".".join(labels[start:])
            yield _Key(part_of(f".{parent}"), f".{parent}", parent)


def _host(type: str, value: str) -> str:
    if type == "url":
        try:
            return urlsplit(value).hostname or ""
        except ValueError:
            return ""
    if type == "email":
        return value.rpartition("@")[2]
    return value if type in ("domain", "ip") else ""


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _networks(address: Address) -> Iterator[_Key]:
    for length in range(address.max_prefixlen, -1, -1):
        network = ipaddress.ip_network((address, length), strict=False)
        yield _Key(network_part(network), str(network), str(network))
