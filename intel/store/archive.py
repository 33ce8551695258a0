"""A backup on the disk: a folder with a manifest, and the files that it names with their lengths and hashes.

Of a store on SQLite it holds the file itself, of one on Elasticsearch a file of records for each part of
`intel.store.copying`; either can be restored on either engine. The manifest is written last and the folder gets its
name then, so that a backup that was cut short is never taken for one.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import MsgspecError
from msgspec.json import Decoder, Encoder

from intel.errors import IocError
from intel.store.copying import PARTS, Part, Records, batches
from intel.store.port import Progress
from intel.store.sealing import SealBroken, Sealed, Unsealed, new_salt

FORMAT = 1
MANIFEST = "manifest.json"
SECRET_FILE = "secret_key"  # noqa: S105 - the name of a file
_BLOCK_BYTES = 1 << 20
_LINES_AT_ONCE = 200
_LARGEST_MANIFEST = 1 << 20
_ENCODER = Encoder()


class BackupUnreadable(IocError):
    """What was given is no whole backup that this version reads; the message says why."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a backup: its length and hash as it lies on the disk."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds. `kind` is `sqlite` or `records`; `salt` is set where it is encrypted."""

    format: int
    version: str
    kind: str
    made_at: str
    counts: Mapping[str, int]
    files: dict[str, StoredFile] = field(default_factory=dict)
    salt: str | None = None


class ArchiveWriter:
    """Fills the folder of a backup that is being made."""

    def __init__(self, folder: Path, passphrase: str | None) -> None:
        self._folder = folder
        self._passphrase = passphrase
        self.salt = new_salt() if passphrase else None
        self.files: dict[str, StoredFile] = {}

    def add_file(self, name: str, source: Path) -> None:
        """Copy a file into the backup."""
        with source.open("rb") as read, self._opened(name) as written:
            shutil.copyfileobj(read, written, _BLOCK_BYTES)

    async def add_records(self, records: Records, progress: Progress) -> dict[str, int]:
        """Write every record of a store; return how many there are of each part."""
        return {part.name: await self._add_part(records, part, progress) for part in PARTS}

    async def _add_part(self, records: Records, part: Part, progress: Progress) -> int:
        total, done = await records.count(part.name), 0
        with self._opened(f"{part.name}.ndjson.gz") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
            async for batch in batches(records.of(part.name), part.at_once):
                await asyncio.to_thread(_write_lines, packed, batch)
                done += len(batch)
                progress(part.name, done, max(done, total))
        return done

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest."""
        (self._folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", "utf-8")

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        path = self._folder / name
        path.touch(mode=0o600)
        with path.open("wb") as file:
            if self._passphrase and self.salt:
                with Sealed(file, self._passphrase, self.salt, name) as sealed:
                    yield sealed
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        self.files[name] = StoredFile(path.stat().st_size, _hash_of(path))


@contextmanager
def new_archive(folder: Path, passphrase: str | None, *, overwrite: bool) -> Iterator[ArchiveWriter]:
    """Make a backup: its folder is there when the context ends well, and nothing of it where it does not.

    Raises BackupUnreadable where there is something of that name already, unless it is to be overwritten.
    """
    if not overwrite and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupUnreadable(f"{folder} exists: name another place, or add --overwrite")
    if overwrite and folder.exists() and not (folder / MANIFEST).exists() and any(folder.iterdir()):
        raise BackupUnreadable(f"{folder} is no backup and is not overwritten: name another place")
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    draft = folder.absolute().with_name(f".{folder.name}.{secrets.token_hex(4)}")
    draft.mkdir(mode=0o700)
    try:
        yield ArchiveWriter(draft, passphrase)
        if folder.exists():
            shutil.rmtree(folder)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


class Archive:
    """A backup that was made."""

    def __init__(self, folder: Path, passphrase: str | None) -> None:
        """Read the manifest. Raises BackupUnreadable where this is no backup that this version can restore."""
        self._folder = folder
        self._passphrase = passphrase
        self.manifest = _read_manifest(folder)
        if self.manifest.salt and not passphrase:
            raise BackupUnreadable(f"{folder} is encrypted: give its passphrase")

    def verify(self, progress: Progress) -> None:
        """Compare every file with the manifest. Raises BackupUnreadable where one is missing or not as it was."""
        for done, (name, stored) in enumerate(self.manifest.files.items(), start=1):
            path = self._folder / name
            if not path.is_file():
                raise BackupUnreadable(f"the backup is damaged: {path} is missing")
            if path.stat().st_size != stored.bytes or _hash_of(path) != stored.sha256:
                raise BackupUnreadable(f"the backup is damaged: {path} is not as it was written")
            progress("checking", done, len(self.manifest.files))

    def has(self, name: str) -> bool:
        """Tell whether the backup holds a file."""
        return name in self.manifest.files

    def extract(self, name: str, target: Path) -> None:
        """Write a file of the backup to where it is wanted, for its owner alone."""
        target.touch(mode=0o600)
        with self._opened(name) as read, target.open("wb") as written:
            shutil.copyfileobj(read, written, _BLOCK_BYTES)

    async def count(self, part: str) -> int:
        """`intel.store.copying.Records`."""
        return self.manifest.counts.get(part, 0)

    async def of(self, part: str) -> AsyncIterator[Any]:
        """`intel.store.copying.Records`. A part that an earlier version did not know has no records."""
        name = f"{part}.ndjson.gz"
        if not self.has(name):
            return
        kind = next(one.kind for one in PARTS if one.name == part)
        decoder: Decoder[Any] = Decoder(kind)
        try:
            with self._opened(name) as file, gzip.GzipFile(fileobj=file, mode="rb") as lines:
                while batch := await asyncio.to_thread(_decoded, decoder, lines):
                    for record in batch:
                        yield record
        except (MsgspecError, EOFError, gzip.BadGzipFile) as error:
            raise BackupUnreadable(f"the backup is damaged: {name} cannot be read ({error})") from None

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        with (self._folder / name).open("rb") as file:
            if self.manifest.salt is None or self._passphrase is None:
                yield file
                return
            try:
                yield Unsealed(file, self._passphrase, self.manifest.salt, name)
            except SealBroken:
                raise BackupUnreadable("the passphrase is not that of this backup, or the backup is damaged") from None


def _write_lines(packed: gzip.GzipFile, batch: Sequence[Any]) -> None:
    packed.write(_ENCODER.encode_lines(batch))


def _decoded(decoder: Decoder[Any], lines: gzip.GzipFile) -> Sequence[Any]:
    return [decoder.decode(line) for line in islice(lines, _LINES_AT_ONCE)]


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        if path.stat().st_size > _LARGEST_MANIFEST:
            raise ValueError("too long")
        held = json.loads(path.read_text("utf-8"))
        if int(held["format"]) > FORMAT:
            raise BackupUnreadable(
                f"{folder} was made by a newer version of this service ({held['version']}): use that"
            )
        files = {str(name): StoredFile(**one) for name, one in held["files"].items()}
        manifest = Manifest(**{**held, "files": files})
    except FileNotFoundError:
        raise BackupUnreadable(f"{folder} is no backup: it has no {MANIFEST}") from None
    except NotADirectoryError:
        raise BackupUnreadable(f"{folder} is no backup: name the folder that `ioc backup` made") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BackupUnreadable(f"the backup is damaged: {path} cannot be read") from None
    if any(Path(name).name != name for name in manifest.files):
        raise BackupUnreadable(f"the backup is damaged: {path} names files elsewhere")
    return manifest


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
