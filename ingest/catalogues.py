"""Importing what others publish: from a file, a folder, an archive or an address, into the store in one step.

A catalogue is read whole before anything is written, so that a wrong or damaged file leaves the former one as it was.
CVSS scores and warning lists come in many files: what is imported is put beside the former entries, and replaces those
of the same CVE or list. The others are replaced whole.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar
from urllib.parse import urlsplit

from ingest.fetch import FetchAllow, Fetcher, FetchLimits
from intel.catalogues.lists import parse_attack, parse_epss, parse_kev
from intel.catalogues.parsed import Parse, not_future
from intel.catalogues.parts import all_parts, entries_of, split
from intel.catalogues.scores import parse_cvss
from intel.catalogues.streams import LARGEST_UNFOLDED_BYTES, unfolded
from intel.catalogues.warning_lists import ALL_PARTS, Lists, WarningList, parse_warning_list
from intel.errors import CatalogueUnreadable
from intel.records import Catalogue
from intel.store import Store

WARNING_LISTS: Final = "warninglist"
PARSERS: Final[Mapping[str, Parse]] = MappingProxyType(
    {"kev": parse_kev, "epss": parse_epss, "cvss": parse_cvss, "attack": parse_attack}
)
CATALOGUES: Final = (*PARSERS, WARNING_LISTS)
_ADDED_TO: Final = "cvss"
_LIMITS: Final = FetchLimits(read_seconds=60, total_seconds=600, body_bytes=256 * 1024 * 1024, body_pieces=1_000_000)
_TYPES: Final = frozenset(
    {
        "application/json", "application/stix+json", "application/octet-stream", "binary/octet-stream",
        "application/gzip", "application/x-gzip", "application/zip", "application/x-zip-compressed",
        "text/csv", "application/csv", "text/plain", "text/json",
    }
)  # fmt: skip
_PIECE_BYTES: Final = 1 << 18
_MOST_FILES: Final = 2_000
_SUFFIXES: Final = (".json", ".json.gz", ".csv", ".csv.gz")
_ZIP: Final = b"PK\x03\x04"

Watch = Callable[[int], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """One file to read; `pieces` gives its bytes, once for each call."""

    name: str
    size: int
    pieces: Callable[[], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
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
    """Whether a place is on the web."""
    return location.lower().startswith(("http://", "https://"))


async def locate(location: str, allow: FetchAllow, proxy: str | None = None) -> Located:
    """The files at an address, fetched through `proxy` if there is one, or at a path.

    Raises FetchFailed, RefusedUrl or CatalogueUnreadable.
    """
    if not is_address(location):
        return _located_file(Path(location))
    page = await Fetcher(allow, _LIMITS, proxy=proxy).fetch(location, types=_TYPES)
    parts = urlsplit(page.url)
    name = Path(parts.path).name or parts.hostname or "catalogue"
    body = page.body
    files = _zipped(body) if body.startswith(_ZIP) else (CatalogueFile(name, len(body), lambda: [body]),)
    return Located(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", files)


async def import_catalogue(store: Store, name: str, found: Located, now: datetime, watch: Watch) -> Imported:
    """Reads the files as the catalogue `name` and stores it; `watch` is told of bytes as they are read.

    Raises CatalogueUnreadable, with nothing changed.
    """
    if name not in (WARNING_LISTS, _ADDED_TO) and len(found.files) > 1:
        raise CatalogueUnreadable(f"{found.origin} holds {len(found.files)} files; name the one to be imported.")
    former = {each.name: each for each in await store.catalogues.all()}.get(name)
    if name == WARNING_LISTS:
        return await _import_lists(store, found, former, now, watch)
    entries: dict[str, str] = {}
    as_of: datetime | None = None
    notes: list[str] = []
    for file in found.files:
        parsed = _read(file, PARSERS[name], watch)
        entries |= parsed.entries
        as_of = max(filter(None, (as_of, parsed.as_of)), default=None)
        notes += parsed.notes
    as_of = not_future(as_of, now)
    if name == _ADDED_TO and former is not None:
        parts = await store.catalogues.parts(name, all_parts())
        entries = dict(entry for part in parts.values() for entry in entries_of(part)) | entries
        as_of = max(as_of, former.as_of)
    catalogue = Catalogue(name, as_of, now, found.origin, len(entries))
    await store.catalogues.put(catalogue, split(entries))
    return Imported(catalogue, former, tuple(notes))


async def _import_lists(
    store: Store, found: Located, former: Catalogue | None, now: datetime, watch: Watch
) -> Imported:
    read = [_read(file, parse_warning_list, watch) for file in found.files]
    lists = [each for each in read if isinstance(each, WarningList)]
    notes = tuple(each for each in read if isinstance(each, str))
    if not lists:
        raise CatalogueUnreadable("There is no warning list that can be used. " + " ".join(f"{n}." for n in notes[:3]))
    together = Lists()
    for each in lists:
        together.add(each)
    if former is not None:
        kept = await store.catalogues.parts(WARNING_LISTS, ALL_PARTS)
        together.add_former(kept, [each.name for each in lists])
    dates = [*(each.as_of for each in lists if each.as_of), *([former.as_of] if former else [])]
    as_of = not_future(max(dates, default=None), now)
    catalogue = Catalogue(WARNING_LISTS, as_of, now, found.origin, together.entries)
    await store.catalogues.put(catalogue, together.parts())
    return Imported(catalogue, former, notes)


def _read(file: CatalogueFile, parse: Callable[[Iterable[bytes]], T], watch: Watch) -> T:
    try:
        return parse(unfolded(_watched(file.pieces(), watch)))
    except CatalogueUnreadable as error:
        raise CatalogueUnreadable(f"{file.name}: {error}") from None
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise CatalogueUnreadable(f"{file.name}: It cannot be read ({error}).") from None


def _watched(pieces: Iterable[bytes], watch: Watch) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        watch(len(piece))


def _located_file(path: Path) -> Located:
    try:
        if path.is_dir():
            return Located(path.absolute().name, _in_folder(path))
        with path.open("rb") as file:
            head = file.read(len(_ZIP))
        files = (
            _zipped(path) if head == _ZIP else (CatalogueFile(path.name, path.stat().st_size, lambda: _bytes(path)),)
        )
    except OSError as error:
        raise CatalogueUnreadable(f"{path} cannot be read ({error.strerror or error}).") from None
    return Located(path.name, files)


def _in_folder(folder: Path) -> tuple[CatalogueFile, ...]:
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return tuple(
        CatalogueFile(name, paths[name].stat().st_size, lambda path=paths[name]: _bytes(path))  # type: ignore[misc]
        for name in _chosen(paths)
    )


def _zipped(source: Path | bytes) -> tuple[CatalogueFile, ...]:
    try:
        archive = zipfile.ZipFile(source if isinstance(source, Path) else io.BytesIO(source))
        sizes = {entry.filename: entry.file_size for entry in archive.infolist() if not entry.is_dir()}
    except zipfile.BadZipFile:
        raise CatalogueUnreadable("The archive is damaged.") from None
    chosen = _chosen(sizes)
    if sum(sizes[name] for name in chosen) > LARGEST_UNFOLDED_BYTES:
        raise CatalogueUnreadable("The archive holds too much.")
    return tuple(
        CatalogueFile(name, sizes[name], lambda name=name: _member(archive, name))  # type: ignore[misc]
        for name in chosen
    )


def _chosen(names: Iterable[str]) -> Sequence[str]:
    """Those that may be catalogues; in a copy of MISP's lists, whose files are all called `list.json`, only these."""
    found = sorted(name for name in names if name.lower().endswith(_SUFFIXES))
    lists = [name for name in found if name.rpartition("/")[2] == "list.json"]
    if not found:
        raise CatalogueUnreadable("There is no JSON or CSV file in it.")
    if len(found) > _MOST_FILES:
        raise CatalogueUnreadable(f"It holds more than {_MOST_FILES:,} files.")
    return lists or found


def _bytes(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _member(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with archive.open(name) as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece
