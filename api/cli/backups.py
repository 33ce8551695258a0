"""`ioc backup`, `ioc restore` and `ioc migrate`."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

from rich.progress import TaskID
from rich.prompt import Prompt

from api import VERSION
from api.cli.running import check_there_is_data, progress_bar, say
from api.logs import configure_logs
from api.web.text import counted
from intel.errors import ConfigurationError, IocError, NotFound
from intel.settings import Settings, load_settings
from intel.store import SQLITE_FILE, open_store
from intel.store.archive import FORMAT, SECRET_FILE, Archive, ArchiveWriter, Manifest, new_archive
from intel.store.copying import PARTS, Copier, check_counts, copy_all, is_empty
from intel.store.elastic.store import ElasticStore
from intel.store.port import Progress, Store
from intel.store.sqlite.copier import check_file, copy_file
from intel.store.sqlite.store import SqliteStore
from intel.times import rfc3339, utc_now

_PASSPHRASE = "IOC_BACKUP_PASSPHRASE"  # noqa: S105 - the name of a variable
S = TypeVar("S", bound=Store)

_NOT_EMPTY = "the store holds something already: add --overwrite to replace all of it"


class NotRestored(IocError):
    """The store was left as it was; the message says why."""


def backup(target: Path, *, overwrite: bool, encrypt: bool) -> None:
    """Write a backup of the store, as it is at one moment, while the service goes on."""
    settings = _settings()
    check_there_is_data(settings)
    passphrase = _passphrase(again=True) if encrypt else None
    with _progress() as progress, new_archive(target, passphrase, overwrite=overwrite) as archive:
        if settings.served:
            counts = asyncio.run(_save_records(settings, archive, progress))
        else:
            counts = asyncio.run(_save_file(settings, archive, progress))
        kind = "records" if settings.served else "sqlite"
        made_at = rfc3339(utc_now())
        archive.finish(Manifest(FORMAT, VERSION, kind, made_at, counts, archive.files, archive.salt))
    with _progress() as progress:
        Archive(target, passphrase).verify(progress)
    say(f"{_held(counts)} backed up in {target}")


def restore(source: Path, *, overwrite: bool) -> None:
    """Fill the store with a backup, of either engine. Nothing is changed where the backup is not whole."""
    settings = _settings()
    archive = _opened(source)
    with _progress() as progress:
        archive.verify(progress)
        if settings.served:
            asyncio.run(_restore_served(settings, archive, progress, overwrite=overwrite))
        else:
            asyncio.run(_restore_embedded(settings, archive, progress, overwrite=overwrite))
    say(f"{_held(archive.manifest.counts)} restored from {source}")


def migrate(*, to_served: bool, overwrite: bool) -> None:
    """Copy all that the embedded store holds to Elasticsearch, or back."""
    settings = _settings()
    if not settings.served:
        raise ConfigurationError(
            "ELASTICSEARCH_URL and REDIS_URL are not set: set both, and IOC_DATA_DIR to the embedded store's folder"
        )
    with _progress() as progress:
        counts = asyncio.run((_to_served if to_served else _to_embedded)(settings, progress, overwrite))
    say(f"{_held(counts)} copied to {'Elasticsearch' if to_served else _file(settings)}")


def _settings() -> Settings:
    configure_logs(level="WARNING")
    return load_settings()


def _file(settings: Settings) -> Path:
    return settings.data_dir / SQLITE_FILE


def _opened(source: Path) -> Archive:
    passphrase = os.environ.get(_PASSPHRASE)
    if not passphrase and sys.stdin.isatty() and _is_encrypted(source):
        passphrase = _passphrase(again=False)
    return Archive(source, passphrase)


def _is_encrypted(source: Path) -> bool:
    return Archive(source, "any").manifest.salt is not None


def _passphrase(*, again: bool) -> str:
    if given := os.environ.get(_PASSPHRASE):
        return given
    if not sys.stdin.isatty():
        raise ConfigurationError(f"{_PASSPHRASE} is not set: put the passphrase of the backup there")
    asked = Prompt.ask("Passphrase", password=True)
    if not asked or (again and asked != Prompt.ask("Once more", password=True)):
        raise ConfigurationError("the passphrases differ, or are empty")
    return asked


async def _save_file(settings: Settings, archive: ArchiveWriter, progress: Progress) -> dict[str, int]:
    if not _file(settings).exists():
        raise NotFound(f"{settings.data_dir} holds no store: set IOC_DATA_DIR to its folder")
    with _folder(settings) as folder:
        copy = folder / SQLITE_FILE
        copy.touch(mode=0o600)
        await asyncio.to_thread(copy_file, _file(settings), copy, lambda done, total: progress("copying", done, total))
        counts = await _counts_of(copy)
        await asyncio.to_thread(archive.add_file, SQLITE_FILE, copy)
    secret = settings.data_dir / SECRET_FILE
    if secret.exists():
        archive.add_file(SECRET_FILE, secret)
    return counts


async def _counts_of(file: Path) -> dict[str, int]:
    """Bring a copy of the store to this version, look whether it is sound, and count what it holds."""
    async with _store(SqliteStore(file)) as store:
        if not await asyncio.to_thread(check_file, file):
            raise NotRestored("the store is damaged: run `ioc doctor`")
        async with store.copier.state() as state:
            return {part.name: await state.count(part.name) for part in PARTS}


async def _save_records(settings: Settings, archive: ArchiveWriter, progress: Progress) -> dict[str, int]:
    async with _store(open_store(settings)) as store, store.copier.state() as state:
        return await archive.add_records(state, progress)


async def _restore_embedded(settings: Settings, archive: Archive, progress: Progress, *, overwrite: bool) -> None:
    async def fill(file: Path) -> None:
        if archive.has(SQLITE_FILE):
            await asyncio.to_thread(archive.extract, SQLITE_FILE, file)
            await _check(file, dict(archive.manifest.counts))
        else:
            async with _store(SqliteStore(file)) as store:
                await copy_all(archive, store.copier, progress)

    await _replace_file(settings, fill, progress, overwrite=overwrite)
    secret = settings.data_dir / SECRET_FILE
    if archive.has(SECRET_FILE) and (overwrite or not secret.exists()):
        secret.unlink(missing_ok=True)
        archive.extract(SECRET_FILE, secret)


async def _check(file: Path, counts: dict[str, int]) -> None:
    async with _store(SqliteStore(file)) as store:
        await check_counts(store.copier, {part.name: counts.get(part.name, 0) for part in PARTS})


async def _replace_file(
    settings: Settings, fill: Callable[[Path], Awaitable[None]], progress: Progress, *, overwrite: bool
) -> None:
    """Fill a new file, then put it where the store's file is: at once, also beside a running service."""
    target = _file(settings)
    if target.exists() and not overwrite:
        async with _store(SqliteStore(target)) as store:
            await _refuse_unless_empty(store.copier)
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _folder(settings) as folder:
        await fill(folder / SQLITE_FILE)
        if not target.exists():
            (folder / SQLITE_FILE).rename(target)
            return
        await asyncio.to_thread(
            copy_file, folder / SQLITE_FILE, target, lambda done, total: progress("writing", done, total)
        )


async def _restore_served(settings: Settings, archive: Archive, progress: Progress, *, overwrite: bool) -> None:
    async with _emptied(settings, overwrite=overwrite) as store:
        if not archive.has(SQLITE_FILE):
            await copy_all(archive, store.copier, progress)
            return
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / SQLITE_FILE
            await asyncio.to_thread(archive.extract, SQLITE_FILE, file)
            async with _store(SqliteStore(file)) as held, held.copier.state() as state:
                await copy_all(state, store.copier, progress)


async def _to_served(settings: Settings, progress: Progress, overwrite: bool) -> dict[str, int]:
    if not _file(settings).exists():
        raise NotFound(f"{settings.data_dir} holds no store: set IOC_DATA_DIR to the folder of the embedded service")
    async with (
        _store(SqliteStore(_file(settings))) as held,
        held.copier.state() as state,
        _emptied(settings, overwrite=overwrite) as store,
    ):
        return await copy_all(state, store.copier, progress)


async def _to_embedded(settings: Settings, progress: Progress, overwrite: bool) -> dict[str, int]:
    counts: dict[str, int] = {}

    async def fill(file: Path) -> None:
        async with (
            _store(open_store(settings)) as held,
            held.copier.state() as state,
            _store(SqliteStore(file)) as store,
        ):
            counts.update(await copy_all(state, store.copier, progress))

    await _replace_file(settings, fill, progress, overwrite=overwrite)
    return counts


@asynccontextmanager
async def _emptied(settings: Settings, *, overwrite: bool) -> AsyncIterator[Store]:
    """Open the store on Elasticsearch, empty: it was so, or is emptied where that is wanted."""
    assert settings.elasticsearch is not None  # noqa: S101 - asked before
    async with _store(ElasticStore(settings.elasticsearch)) as store:
        if not overwrite:
            await _refuse_unless_empty(store.copier)
        else:
            await store.clear()
        yield store


async def _refuse_unless_empty(copier: Copier) -> None:
    if not await is_empty(copier):
        raise NotRestored(_NOT_EMPTY)


@asynccontextmanager
async def _store(store: S) -> AsyncIterator[S]:
    try:
        await store.setup()
        yield store
    finally:
        await store.close()


@contextmanager
def _folder(settings: Settings) -> Iterator[Path]:
    """Make a folder beside the store, of which nothing is left afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=".copy-", dir=settings.data_dir))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _progress() -> Iterator[Progress]:
    with progress_bar() as bar:
        tasks: dict[str, TaskID] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield progress


def _held(counts: object) -> str:
    assert isinstance(counts, dict)  # noqa: S101 - a manifest's counts
    return f"{counted(counts.get('articles', 0), 'article')} and {counted(counts.get('accounts', 0), 'account')}"
