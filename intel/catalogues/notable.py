"""The CVEs that a catalogue alone can bring into focus, kept as a part of it so that nobody goes through all others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from intel.catalogues.parts import pack, unpack
from intel.store import Store

# From this probability of exploitation on a CVE is in focus by itself.
HIGH_EPSS: Final = 0.5
_NAMES: Final = ("kev", "epss")
# Another rule asks for another part.
_PART: Final = f"notable-{HIGH_EPSS}"


def notable_part(name: str, entries: Mapping[str, str]) -> dict[str, bytes]:
    """Return the part that names a catalogue's notable CVEs, none of a catalogue that has none; `entries` as stored."""
    return {_PART: pack(sorted(_notable(name, entries)))} if name in _NAMES else {}


async def notable_cves(store: Store) -> frozenset[str] | None:
    """Return the CVEs in KEV and those with a high EPSS; None where an earlier version imported a catalogue."""
    found: set[str] = set()
    for catalogue in await store.catalogues.all():
        if catalogue.name in _NAMES:
            parts = await store.catalogues.parts(catalogue.name, [_PART])
            if _PART not in parts:
                return None
            found.update(unpack(parts[_PART]).split())
    return frozenset(found)


def _notable(name: str, entries: Mapping[str, str]) -> Iterator[str]:
    for cve, text in entries.items():
        if name == "kev" or json.loads(text)["score"] >= HIGH_EPSS:
            yield cve
