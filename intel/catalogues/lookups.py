"""Look CVEs and techniques up in the imported catalogues: one small read for each catalogue and part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from intel.catalogues.facts import (
    CveFacts,
    Cvss,
    Epss,
    Kev,
    Technique,
    read_cvss,
    read_epss,
    read_kev,
    read_technique,
)
from intel.catalogues.parts import find, part_of, unpack
from intel.records import Catalogue
from intel.store import Store

Fact = TypeVar("Fact", Kev, Cvss, Epss, Technique)


async def lookup(store: Store, cves: Iterable[str]) -> dict[str, CveFacts]:
    """Return what the imported catalogues say of each of the given CVEs (canonical); unknown ones are left out."""
    wanted = tuple(dict.fromkeys(cves))
    look = await _look(store, wanted)
    kev = await look.up("kev", read_kev)
    cvss = await look.up("cvss", read_cvss)
    epss = await look.up("epss", read_epss)
    known = (cve for cve in wanted if cve in kev or cve in cvss or cve in epss)
    return {cve: CveFacts(kev.get(cve), cvss.get(cve), epss.get(cve)) for cve in known}


async def kev_names(store: Store, cves: Iterable[str]) -> dict[str, str]:
    """Return what the imported KEV calls each of the given CVEs (canonical); nothing is read where none is given."""
    wanted = tuple(dict.fromkeys(cves))
    look = await _look(store, wanted) if wanted else None
    return {cve: kev.name for cve, kev in (await look.up("kev", read_kev)).items()} if look else {}


async def techniques(store: Store, ids: Iterable[str]) -> dict[str, Technique]:
    """Return what the imported ATT&CK says of each of the given techniques (canonical); unknown ones are left out."""
    look = await _look(store, tuple(dict.fromkeys(ids)))
    return await look.up("attack", read_technique)


async def catalogue_stamp(store: Store) -> str:
    """Return a short text that changes whenever the answers of `lookup` and `techniques` may change."""
    return ",".join(f"{each.name}@{each.imported_at.timestamp()}" for each in await store.catalogues.all())


@dataclass(frozen=True, slots=True)
class _Look:
    store: Store
    catalogues: dict[str, Catalogue]
    keys: tuple[str, ...]

    async def up(self, name: str, read: Callable[[str, datetime], Fact]) -> dict[str, Fact]:
        """Return what a catalogue says of the keys."""
        if name not in self.catalogues or not self.keys:
            return {}
        parts = await self.store.catalogues.parts(name, sorted({part_of(key) for key in self.keys}))
        unpacked = {part: unpack(content) for part, content in parts.items()}
        texts = {key: find(unpacked.get(part_of(key), ""), key) for key in self.keys}
        as_of = self.catalogues[name].as_of
        return {key: read(text, as_of) for key, text in texts.items() if text is not None}


async def _look(store: Store, keys: tuple[str, ...]) -> _Look:
    return _Look(store, {each.name: each for each in await store.catalogues.all()}, keys)
