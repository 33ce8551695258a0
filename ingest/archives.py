"""The files in folders and archives, read in a confined process and never unpacked to disk.

Formats: zip, tar (plain, gz, bz2, xz), one file in gz; archives in archives down to three levels. All of an import
shares one budget: what an archive says about itself is a stranger's word.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from ingest.messages import IsolationLimits

DEEPEST: Final = 3
LONGEST_NAME: Final = 300
TARS: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
ARCHIVES: Final = (".zip", *TARS, ".gz")
# A stream waits for its reader, so it is its CPU time that counts; `Budget` ends it well before the kernel does.
LIMITS: Final = IsolationLimits(cpu_seconds=1_000, wall_seconds=900.0, memory_bytes=640 << 20, result_bytes=1 << 40)

_PIECE_BYTES: Final = 1 << 18
_ZIP: Final = b"PK\x03\x04"
# As many entries as an import may hold come to a tenth of it; its end has a comment of 64 kB at most.
_LARGEST_DIRECTORY: Final = 100_000_000
_LONGEST_END: Final = 66_000
_GZIP: Final = b"\x1f\x8b"
_PACKINGS: Final[Sequence[tuple[bytes, Callable[[IO[bytes]], Any]]]] = (
    (_GZIP, gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open),
)  # fmt: skip
_BROKEN: Final = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError,
    NotImplementedError, OverflowError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """Which files are wanted: by their endings, up to a size; `by_content` also tells a named archive by its bytes.

    An import may hold `most_entries` in archives, and unfold to `spare_bytes` and a hundred times what its archives
    take on disk, `most_bytes` at most, within `most_seconds` of CPU time.
    """

    endings: tuple[str, ...]
    largest_file: int
    by_content: bool = False
    most_entries: int = 200_000
    spare_bytes: int = 1_000_000_000
    most_bytes: int = 20_000_000_000
    most_seconds: float = 900.0


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A piece of a file by its path, within an archive after `!`; the last one may say why the file cannot be had."""

    path: str
    body: bytes = b""
    last: bool = False
    reason: str = ""
    detail: str = ""


class _Spent(Exception):
    """The budget of an import is used up."""


@dataclass(slots=True)
class Budget:
    """What is left of an import's bytes, entries and time."""

    choice: Choice
    unfolded: int = 0
    allowed: int = 0
    entries: int = 0
    started: float = field(default_factory=time.process_time)

    def opened(self, bytes_on_disk: int) -> None:
        """Count an archive as opened: it may unfold to a hundred times its size."""
        self.allowed = min(self.choice.most_bytes, max(self.allowed, self.choice.spare_bytes) + 100 * bytes_on_disk)
        self._in_time()

    def entry(self) -> None:
        """Count an entry of an archive."""
        self.entries += 1
        if self.entries > self.choice.most_entries:
            raise _Spent(f"The archives hold more than {self.choice.most_entries:,} entries")
        self._in_time()

    def take(self, size: int) -> None:
        """Count unfolded bytes; what is refused does not count, so that a later archive has its own share."""
        if self.unfolded + size > self.allowed:
            raise _Spent(f"The archives unfold to more than {self.allowed // 1_000_000:,} MB")
        self.unfolded += size
        self._in_time()

    def _in_time(self) -> None:
        if time.process_time() - self.started > self.choice.most_seconds:
            raise _Spent(f"Unfolding the archives takes more than {self.choice.most_seconds:,.0f} seconds")


class _Counted(io.RawIOBase):
    """An unfolding stream of which every byte counts, whoever reads it."""

    def __init__(self, source: IO[bytes], budget: Budget) -> None:
        self._source = source
        self._budget = budget

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(min(size, _PIECE_BYTES) if size >= 0 else _PIECE_BYTES)
        self._budget.take(len(piece))
        return piece


def file_pieces(paths: list[bytes], choice: Choice) -> Iterator[FilePiece]:
    """Yield every file that is wanted, in a stable order: of folders and archives those with a known ending.

    An archive for which the budget does not last says so under its own path; files beside it are taken all the same.
    """
    budget = Budget(choice)
    for shown, path, root in _listed(map(os.fsdecode, paths), choice):
        try:
            yield from _of_path(shown, path, root, budget)
        except _Spent as spent:
            yield _failed(shown, "archive_too_large", f"{spent}; the rest of this one is left out.")


def count_files(paths: list[bytes], choice: Choice) -> int:
    """Return how many files `file_pieces` gives, but for archives within archives, which count as one."""
    budget, found = Budget(choice), 0
    for _, path, _ in _listed(map(os.fsdecode, paths), choice):
        found += _members_in(path, budget) if path.lower().endswith(ARCHIVES) else 1
    return found


def shown_name(name: str) -> str:
    """Return a name without what could steer a terminal or turn text around."""
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name[:LONGEST_NAME])
    return shown + ("…" if len(name) > LONGEST_NAME else "")


def _listed(paths: Iterable[str], choice: Choice) -> Iterator[tuple[str, str, str | None]]:
    """Yield every file as (as shown, path, folder that it was found in)."""
    for path in paths:
        if not Path(path).is_dir():
            yield _shown_path(path), path, None
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                if _is_wanted(name, choice):
                    inner = os.path.join(folder, name)  # noqa: PTH118 - names need not be text
                    yield _shown_path(inner), inner, path


def _shown_path(path: str) -> str:
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in path)


def _is_wanted(name: str, choice: Choice) -> bool:
    """Tell whether a file is wanted; hidden ones and what macOS adds to archives are not."""
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith(".") for part in parts) or "__MACOSX" in parts
    return not hidden and name.lower().endswith(choice.endings + ARCHIVES)


def _of_path(shown: str, path: str, root: str | None, budget: Budget) -> Iterator[FilePiece]:
    if root is not None and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        yield _failed(shown, "leads_outside", "It is a link that leads out of its folder; name the file itself.")
        return
    try:
        with _opened(path) as file:
            kind = _kind(path, file, budget.choice.by_content)
            if kind:
                budget.opened(os.fstat(file.fileno()).st_size)
                yield from _of_archive(shown, kind, PurePosixPath(path).name, file, budget, 1)
            else:
                yield from _pieces(shown, file, budget.choice.largest_file)
    except _NoFile:
        yield _failed(shown, "unreadable_file", "It is no file, but a pipe, socket or device.")
    except OSError as error:
        yield _failed(shown, "unreadable_file", f"The file cannot be read ({error.strerror}).")


class _NoFile(Exception):
    """There is something else than a file."""


@contextlib.contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file without waiting: a pipe would have this wait for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _NoFile
        yield file


def _kind(name: str, file: IO[bytes], by_content: bool) -> str:
    """Return the ending of the kind of archive that a file is; empty where it is none."""
    lower = name.lower()
    if by_content:
        head = file.read(len(_ZIP))
        file.seek(0)
        if head == _ZIP:
            return ".zip"
        if not lower.endswith(TARS):
            return ".gz" if head.startswith(_GZIP) else ""
    return next((ending for ending in ARCHIVES if lower.endswith(ending)), "")


def _pieces(path: str, file: IO[bytes], largest: int, budget: Budget | None = None) -> Iterator[FilePiece]:
    size = 0
    while piece := file.read(_PIECE_BYTES):
        size += len(piece)
        if budget is not None:
            budget.take(len(piece))
        if size > largest:
            yield _failed(path, "body_too_large", f"The file is larger than {largest // 1_000_000} MB.")
            return
        yield FilePiece(path, piece)
    yield FilePiece(path, last=True)


def _failed(path: str, reason: str, detail: str) -> FilePiece:
    return FilePiece(path, b"", True, reason, detail)


def _of_archive(path: str, kind: str, name: str, file: IO[bytes], budget: Budget, depth: int) -> Iterator[FilePiece]:
    """Yield the files in an archive; of what is broken or too much, the reason."""
    try:
        if kind == ".zip":
            yield from _of_zip(path, file, budget, depth)
        elif kind in TARS:
            yield from _of_tar(path, file, budget, depth)
        else:
            inner = name[: -len(".gz")] if name.lower().endswith(".gz") else name
            with _plain(file) as content:
                yield from _of_member(path, inner, content, budget, depth)
    except MemoryError:
        yield _failed(path, "archive_too_large", "Opening the archive takes more memory than it may take.")
    except _BROKEN:
        yield _failed(path, "broken_archive", "The archive is damaged, or of a kind that cannot be opened.")


def _of_member(path: str, name: str, content: IO[bytes], budget: Budget, depth: int) -> Iterator[FilePiece]:
    """Yield a file in an archive, or what is in it where it is an archive as well."""
    inner = f"{path}!{shown_name(name)}"
    if not name.lower().endswith(ARCHIVES):
        yield from _pieces(inner, content, budget.choice.largest_file, budget)
    elif depth == DEEPEST:
        yield _failed(inner, "too_deep", f"Archives are opened {DEEPEST} levels deep; unpack it first.")
    else:
        held = io.BytesIO()
        for piece in _pieces(inner, content, budget.choice.largest_file, budget):
            if piece.reason:
                yield piece
                return
            held.write(piece.body)
        held.seek(0)
        kind = next(ending for ending in ARCHIVES if name.lower().endswith(ending))
        yield from _of_archive(inner, kind, PurePosixPath(name).name, held, budget, depth + 1)


def _of_zip(path: str, file: IO[bytes], budget: Budget, depth: int) -> Iterator[FilePiece]:
    if _directory_bytes(file) > _LARGEST_DIRECTORY:
        yield _failed(path, "archive_too_large", "The archive's table of contents is larger than it may be.")
        return
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            budget.entry()
            if info.is_dir() or stat.S_ISLNK(info.external_attr >> 16) or not _is_wanted(info.filename, budget.choice):
                continue
            yield from _of_zip_member(path, archive, info, budget, depth)


def _directory_bytes(file: IO[bytes]) -> int:
    """Return how long a zip says its table of contents is: it is read whole before the first entry is counted."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LONGEST_END))
    end = file.read()
    file.seek(0)
    if (large := end.rfind(b"PK\6\6")) >= 0:
        return int.from_bytes(end[large + 40 : large + 48], "little")
    place = end.rfind(b"PK\5\6")
    return int.from_bytes(end[place + 12 : place + 16], "little") if place >= 0 else 0


def _of_zip_member(
    path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget, depth: int
) -> Iterator[FilePiece]:
    inner = f"{path}!{shown_name(info.filename)}"
    if info.flag_bits & 1:
        yield _failed(inner, "encrypted", "The file in the archive is locked with a password; unpack it first.")
        return
    try:
        with archive.open(info) as member:
            yield from _of_member(path, info.filename, member, budget, depth)
    except _BROKEN:
        yield _failed(inner, "broken_archive", "The file in the archive is damaged.")


def _of_tar(path: str, file: IO[bytes], budget: Budget, depth: int) -> Iterator[FilePiece]:
    for archive, member in _tar_members(file, budget):
        content = archive.extractfile(member) if member.isreg() and _is_wanted(member.name, budget.choice) else None
        if content is not None:
            yield from _of_member(path, member.name, content, budget, depth)


def _tar_members(file: IO[bytes], budget: Budget) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    with _plain(file) as plain, tarfile.open(fileobj=_Counted(plain, budget), mode="r|") as archive:
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # it would keep every header
            budget.entry()
            yield archive, member


def _plain(file: IO[bytes]) -> contextlib.AbstractContextManager[IO[bytes]]:
    """Return what a packed file holds, by its first bytes."""
    head = file.read(6)
    file.seek(0)
    unfolding = next((opened for magic, opened in _PACKINGS if head.startswith(magic)), contextlib.nullcontext)
    plain: contextlib.AbstractContextManager[IO[bytes]] = unfolding(file)
    return plain


def _members_in(path: str, budget: Budget) -> int:
    """Count the members of an archive, without reading what they hold where the format lets one."""
    found = 0
    # Of a damaged one `file_pieces` gives the archive itself, with what is wrong with it.
    with contextlib.suppress(*_BROKEN, MemoryError, _Spent, _NoFile), _opened(path) as file:
        budget.opened(os.fstat(file.fileno()).st_size)
        if path.lower().endswith(".zip"):
            with zipfile.ZipFile(file) as archive:
                return sum(
                    _is_wanted(info.filename, budget.choice) and not info.is_dir() for info in archive.infolist()
                )
        if path.lower().endswith(TARS):
            for _, member in _tar_members(file, budget):
                found += member.isreg() and _is_wanted(member.name, budget.choice)
    return found or 1
