"""The warning lists that come with the service; `scripts/make-warninglists` writes them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.resources import files

from intel.query import host_names
from intel.warninglists.lists import Subject, WarningList, from_json, joined


@cache
def packaged_lists() -> tuple[WarningList, ...]:
    """Return all packaged lists, read once."""
    packed = (files(__package__) / "lists.json.gz").read_bytes()
    return tuple(from_json(members) for members in json.loads(gzip.decompress(packed))["lists"])


@cache
def _any() -> WarningList:
    """Return all packaged lists as one: most indicators stand on none, and one question tells so."""
    return joined(packaged_lists())


def load_packaged() -> None:
    """Read the packaged lists unless they are read: for half a second, so in a thread."""
    _any()


def is_packaged(type: str, value: str) -> bool:
    """Tell whether `packaged_warnings` are any: for most indicators by one question, and none of their address."""
    every, hosts = _any(), host_names(type, value)
    if type not in every.types:
        return False
    is_address = bool(hosts) and (hosts[0][-1:].isdigit() or ":" in hosts[0])
    if not is_address and every.values.isdisjoint((value.lower(), *hosts[:1])) and every.hosts.isdisjoint(hosts):
        return False
    return bool(packaged_warnings(type, value))


def packaged_warnings(type: str, value: str) -> tuple[tuple[str, str], ...]:
    """Return (list, reason) of every packaged list that holds an indicator in canonical form, in their order."""
    subject = Subject.of(type, value)
    if not _any().holds(subject):
        return ()
    return tuple((one.name, one.reason) for one in packaged_lists() if one.holds(subject))
