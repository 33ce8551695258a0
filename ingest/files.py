"""Files to take in: single ones, those in folders, and those in archives, which are read in memory and never unpacked.

Formats of archives: zip, tar (plain, gz, bz2, xz), a single file in gz; archives in archives down to three levels.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final, Protocol

from intel.errors import IngestFailed, IocError

LARGEST_FILE: Final = 50_000_000
LARGEST_ARCHIVE: Final = 2_000_000_000
# What an archive may hold when all of it is unpacked: more is a bomb.
MOST_UNPACKED: Final = 20_000_000_000
MOST_MEMBERS: Final = 200_000
DEEPEST: Final = 3

_ARTICLES: Final = (".html", ".htm", ".xhtml", ".txt", ".md", ".markdown", ".pdf", ".json", ".stix", ".stix2")
_TARS: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_ARCHIVES: Final = (".zip", *_TARS, ".gz")
_BROKEN: Final = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError,
)  # fmt: skip


class _Readable(Protocol):
    def read(self, most: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file by its path, within an archive after `!`: its bytes, or why they cannot be had."""

    path: str
    body: bytes | IngestFailed


def found_files(paths: Iterable[Path]) -> Iterator[FoundFile]:
    """Every file that may hold articles, in a stable order; of folders and archives those with a known ending.

    Raises IocError for a path where nothing is.
    """
    for path in _listed(paths):
        if _is_archive(path.name):
            yield from _of_archive_file(path)
        else:
            yield FoundFile(str(path), _whole(path))


def count_files(paths: Iterable[Path]) -> int:
    """How many files `found_files` gives, but for archives within archives, which count as one."""
    return sum(_members_in(path) if _is_archive(path.name) else 1 for path in _listed(paths))


def _listed(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders.sort()
                yield from (Path(folder, name) for name in sorted(names) if _is_wanted(name))
        elif path.is_file():
            yield path
        else:
            raise IocError(f"{path} is no file or folder")


def _is_archive(name: str) -> bool:
    return name.lower().endswith(_ARCHIVES)


def _is_wanted(name: str) -> bool:
    """Hidden files and what macOS adds to archives hold no articles."""
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith(".") for part in parts) or "__MACOSX" in parts
    return not hidden and name.lower().endswith(_ARTICLES + _ARCHIVES)


def _whole(path: Path) -> bytes | IngestFailed:
    try:
        with path.open("rb") as file:
            return _bounded(file)
    except OSError as error:
        return IngestFailed("unreadable_file", f"The file cannot be read ({error.strerror}).")


def _bounded(file: _Readable) -> bytes | IngestFailed:
    body = file.read(LARGEST_FILE + 1)
    if len(body) > LARGEST_FILE:
        return IngestFailed("body_too_large", f"The file is larger than {LARGEST_FILE // 1_000_000} MB.")
    return body


def _of_archive_file(path: Path) -> Iterator[FoundFile]:
    try:
        if path.stat().st_size > LARGEST_ARCHIVE:
            yield FoundFile(
                str(path), IngestFailed("body_too_large", "The archive is larger than 2 GB; unpack it first.")
            )
            return
        with path.open("rb") as file:
            yield from _of_archive(str(path), path.name, file, 1)
    except _BROKEN as error:
        yield FoundFile(str(path), _broken(error))


def _of_archive(path: str, name: str, file: IO[bytes], depth: int) -> Iterator[FoundFile]:
    for member, body in _members(name, file):
        inner = f"{path}!{member}"
        if isinstance(body, bytes) and _is_archive(member):
            yield from _of_inner_archive(inner, member, body, depth + 1)
        else:
            yield FoundFile(inner, body)


def _of_inner_archive(path: str, name: str, body: bytes, depth: int) -> Iterator[FoundFile]:
    if depth > DEEPEST:
        yield FoundFile(path, IngestFailed("too_deep", f"Archives are opened {DEEPEST} levels deep; unpack it first."))
        return
    try:
        yield from _of_archive(path, name, io.BytesIO(body), depth)
    except _BROKEN as error:
        yield FoundFile(path, _broken(error))


def _broken(error: Exception) -> IngestFailed:
    if isinstance(error, _TooMuch):
        return IngestFailed("archive_too_large", str(error))
    return IngestFailed("broken_archive", "The archive is damaged, or of a kind that cannot be opened.")


class _TooMuch(ValueError):
    """An archive unpacks to more than is reasonable."""


def _members(name: str, file: IO[bytes]) -> Iterator[tuple[str, bytes | IngestFailed]]:
    lower = name.lower()
    if lower.endswith(".zip"):
        return _of_zip(file)
    if lower.endswith(_TARS):
        return _of_tar(file)
    return _of_gzip(name, file)


def _of_zip(file: IO[bytes]) -> Iterator[tuple[str, bytes | IngestFailed]]:
    with zipfile.ZipFile(file) as archive:
        for info in _within_limits(archive.infolist()):
            if info.is_dir() or not _is_wanted(info.filename):
                continue
            yield info.filename, _of_zip_member(archive, info)


def _of_zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | IngestFailed:
    if info.flag_bits & 1:
        return IngestFailed("encrypted", "The file in the archive is locked with a password; unpack it first.")
    try:
        with archive.open(info) as member:
            return _bounded(member)
    except _BROKEN as error:
        return _broken(error)


def _within_limits(members: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    _check(len(members), sum(member.file_size for member in members))
    return members


def _check(members: int, unpacked: int) -> None:
    if members > MOST_MEMBERS or unpacked > MOST_UNPACKED:
        raise _TooMuch("The archive unpacks to more than 200,000 files or 20 GB; unpack it and import its parts.")


def _of_tar(file: IO[bytes]) -> Iterator[tuple[str, bytes | IngestFailed]]:
    unpacked = 0
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for number, member in enumerate(archive, 1):
            unpacked += member.size
            _check(number, unpacked)
            content = archive.extractfile(member) if member.isreg() and _is_wanted(member.name) else None
            if content is not None:
                yield member.name, _bounded(content)


def _of_gzip(name: str, file: IO[bytes]) -> Iterator[tuple[str, bytes | IngestFailed]]:
    with gzip.open(file) as content:
        yield name[: -len(".gz")], _bounded(content)


def _members_in(path: Path) -> int:
    """Without reading what compressed members hold, where the format lets one."""
    name = path.name.lower()
    # Of a damaged one `found_files` gives the archive itself, with what is wrong with it.
    with contextlib.suppress(*_BROKEN):
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                return sum(_is_wanted(info.filename) and not info.is_dir() for info in archive.infolist())
        if name.endswith(_TARS):
            with tarfile.open(path, mode="r|*") as archive:
                return sum(member.isreg() and _is_wanted(member.name) for member in archive)
    return 1
