"""Importing what others publish: from a file, a folder, an archive or an address, into the store in one step.

A catalogue is read whole before anything is written, so that a wrong or damaged file leaves the former one as it was.
CVSS scores and warning lists come in many files: what is imported is put beside the former entries, and replaces those
of the same CVE or list. The others are replaced whole.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import weakref
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, TypeVar
from urllib.parse import urlsplit

from ingest.archives import LIMITS, Choice, file_pieces, shown_name
from ingest.fetch import FetchAllow, Fetcher, FetchLimits
from ingest.isolated import Isolation
from intel.catalogues.lists import parse_attack, parse_epss, parse_kev
from intel.catalogues.notable import notable_part
from intel.catalogues.parsed import Parse, not_future
from intel.catalogues.parts import all_parts, entries_of, split
from intel.catalogues.scores import parse_cvss
from intel.catalogues.streams import LARGEST_UNFOLDED_BYTES, unfolded
from intel.catalogues.warning_lists import ALL_PARTS, Lists, WarningList, parse_warning_list
from intel.errors import CatalogueUnreadable, IsolationFailed
from intel.records import Catalogue
from intel.store import Store

WARNING_LISTS: Final = "warninglist"
PARSERS: Final[Mapping[str, Parse]] = MappingProxyType(
    {"kev": parse_kev, "epss": parse_epss, "cvss": parse_cvss, "attack": parse_attack}
)
CATALOGUES: Final = (*PARSERS, WARNING_LISTS)
_ADDED_TO: Final = "cvss"
_LIMITS: Final = FetchLimits(read_seconds=60, total_seconds=600, body_bytes=256 * 1024 * 1024, body_pieces=1_000_000)
MEDIA_TYPES: Final = (
    "application/json", "application/stix+json", "application/octet-stream", "binary/octet-stream",
    "application/gzip", "application/x-gzip", "application/zip", "application/x-zip-compressed",
    "text/csv", "application/csv", "text/plain", "text/json",
)  # fmt: skip
_PIECE_BYTES: Final = 1 << 18
_MOST_FILES: Final = 2_000
_LONGEST_NAME: Final = 100
_CHOICE: Final = Choice(
    (".json", ".csv"),
    LARGEST_UNFOLDED_BYTES,
    by_content=True,
    spare_bytes=LARGEST_UNFOLDED_BYTES,
    most_bytes=LARGEST_UNFOLDED_BYTES,
)

Watch = Callable[[int], None]
# Makes what is stored of the former catalogue and its parts.
Beside = Callable[[Catalogue | None, Mapping[str, bytes]], tuple[Catalogue, Mapping[str, bytes]]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """One file to read; `pieces` gives its bytes, once for each call."""

    name: str
    size: int
    pieces: Callable[[], Iterable[bytes]]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Located:
    """The files at a place, and how people are told of it: without folders, credentials and queries."""

    origin: str
    files: tuple[CatalogueFile, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What was stored, what it took the place of, and remarks for the operator."""

    catalogue: Catalogue
    former: Catalogue | None
    notes: tuple[str, ...]


def is_address(location: str) -> bool:
    """Tell whether a place is on the web."""
    return location.lower().startswith(("http://", "https://"))


async def locate(location: str, allow: FetchAllow, proxy: str | None = None) -> Located:
    """Return the files at an address, fetched through `proxy` if there is one, or at a path.

    Raises FetchFailed, RefusedUrl or CatalogueUnreadable.
    """
    if not is_address(location):
        return await _located_file(Path(location), Path(location).absolute().name)
    page = await Fetcher(allow, _LIMITS, proxy=proxy).fetch(location, types=frozenset(MEDIA_TYPES))
    parts = urlsplit(page.url)
    name = shown_name(Path(parts.path).name.strip(".")) or "catalogue"
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return await located_body(page.body, name[-_LONGEST_NAME:], origin)


async def located_body(body: bytes, name: str, origin: str) -> Located:
    """Return the files in the bytes of one that is called `name`. Raises CatalogueUnreadable."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, name)
        place.write_bytes(body)
        return await _located_file(place, origin)


async def import_catalogue(store: Store, name: str, found: Located, now: datetime, watch: Watch) -> Imported:
    """Read the files as the catalogue `name`, beside the event loop, and store it; `watch` is told of bytes as they are
    read, from another thread.

    Raises CatalogueUnreadable, with nothing changed.
    """
    if name not in (WARNING_LISTS, _ADDED_TO) and len(found.files) > 1:
        raise CatalogueUnreadable(f"{found.origin} holds {len(found.files)} files; name the one to be imported.")
    if name == WARNING_LISTS:
        return await _import_lists(store, found, now, watch)
    entries: dict[str, str] = {}
    as_of: datetime | None = None
    notes: list[str] = []
    for file in found.files:
        parsed = await asyncio.to_thread(_read, file, PARSERS[name], watch)
        entries |= parsed.entries
        as_of = max(filter(None, (as_of, parsed.as_of)), default=None)
        notes += parsed.notes
    day = not_future(as_of, now)

    def beside(former: Catalogue | None, kept: Mapping[str, bytes]) -> tuple[Catalogue, Mapping[str, bytes]]:
        together = dict(entry for part in kept.values() for entry in entries_of(part)) | entries
        newest = max(day, former.as_of) if former is not None and name == _ADDED_TO else day
        return Catalogue(name, newest, now, found.origin, len(together)), split(together) | notable_part(name, together)

    return await _put(store, name, all_parts() if name == _ADDED_TO else (), beside, notes)


async def _import_lists(store: Store, found: Located, now: datetime, watch: Watch) -> Imported:
    read = [await asyncio.to_thread(_read, file, parse_warning_list, watch) for file in found.files]
    lists = [each for each in read if isinstance(each, WarningList)]
    notes = tuple(each for each in read if isinstance(each, str))
    if not lists:
        raise CatalogueUnreadable("There is no warning list that can be used. " + " ".join(f"{n}." for n in notes[:3]))

    def beside(former: Catalogue | None, kept: Mapping[str, bytes]) -> tuple[Catalogue, Mapping[str, bytes]]:
        together = Lists()
        for each in lists:
            together.add(each)
        together.add_former(kept, [each.name for each in lists])
        dates = [*(each.as_of for each in lists if each.as_of), *([former.as_of] if former else [])]
        as_of = not_future(max(dates, default=None), now)
        return Catalogue(WARNING_LISTS, as_of, now, found.origin, together.entries), together.parts()

    return await _put(store, WARNING_LISTS, ALL_PARTS, beside, notes)


async def _put(store: Store, name: str, kept_parts: Sequence[str], beside: Beside, notes: Sequence[str]) -> Imported:
    """Store what is made beside the former entries; where another import was quicker, make it anew beside that one."""
    while True:
        former, generation = await store.catalogues.get(name) or (None, 0)
        kept = await store.catalogues.parts(name, kept_parts)
        catalogue, parts = await asyncio.to_thread(beside, former, kept)
        if await store.catalogues.put(catalogue, parts, over=generation if kept_parts else None):
            return Imported(catalogue, former, tuple(notes))


def _read(file: CatalogueFile, parse: Callable[[Iterable[bytes]], T], watch: Watch) -> T:
    try:
        return parse(unfolded(_watched(file.pieces(), watch)))
    except CatalogueUnreadable as error:
        raise CatalogueUnreadable(f"{file.name}: {error}") from None
    except (OSError, zlib.error) as error:
        raise CatalogueUnreadable(f"{file.name}: It cannot be read ({error}).") from None


def _watched(pieces: Iterable[bytes], watch: Watch) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        watch(len(piece))


async def _located_file(path: Path, origin: str) -> Located:
    """Return the files there, unfolded by a confined process and kept aside until they have been read."""
    if not path.is_dir() and not path.is_file():
        raise CatalogueUnreadable(f"{path} is no file or folder.")
    aside = tempfile.TemporaryFile()  # noqa: SIM115 - closed when nobody holds the files any more
    spans: dict[str, tuple[int, int]] = {}
    isolation = Isolation(at_once=1, preload=("ingest.archives",))
    begun = 0
    try:
        async with aclosing(isolation.stream(LIMITS, file_pieces, [os.fsencode(path)], _CHOICE)) as pieces:
            async for piece in pieces:
                name = piece.path.removeprefix(str(path)).lstrip("/!") or path.name
                if piece.reason:
                    raise CatalogueUnreadable(f"{name}: {piece.detail}")
                aside.write(piece.body)
                if piece.last:
                    spans[name], begun = (begun, aside.tell()), aside.tell()
        files = tuple(_kept(aside, name, *spans[name]) for name in _chosen(spans, path))
    except IsolationFailed:
        aside.close()
        raise CatalogueUnreadable(f"{origin}: Unfolding it was cut short.") from None
    except BaseException:
        aside.close()
        raise
    finally:
        await isolation.close()
    located = Located(origin, files)
    weakref.finalize(located, aside.close)
    return located


def _kept(aside: IO[bytes], name: str, start: int, end: int) -> CatalogueFile:
    def pieces() -> Iterator[bytes]:
        place = start
        while place < end:
            aside.seek(place)
            piece = aside.read(min(_PIECE_BYTES, end - place))
            place += len(piece)
            yield piece

    return CatalogueFile(name, end - start, pieces)


def _chosen(names: Collection[str], path: Path) -> Sequence[str]:
    """Return those that may be catalogues; in a copy of MISP's lists, whose files are all called `list.json`, only
    these.
    """
    found = sorted(names)
    lists = [name for name in found if name.rpartition("/")[2] == "list.json"]
    if not found:
        raise CatalogueUnreadable(f"There is no JSON or CSV file in {path.name}.")
    if len(found) > _MOST_FILES:
        raise CatalogueUnreadable(f"It holds more than {_MOST_FILES:,} files.")
    return lists or found
