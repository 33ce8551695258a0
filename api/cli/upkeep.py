"""`ioc reindex` and `ioc doctor`."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict

import httpx
from redis.asyncio import Redis
from redis.exceptions import RedisError
from rich.console import Console
from rich.progress import TaskID
from rich.text import Text

from api.cli.cluster_findings import look_at_cluster
from api.cli.finding import Finding
from api.cli.running import has_data, print_json, progress_bar, say, with_store
from api.logs import configure_logs
from ingest.indicators.iocextract_step import is_installed
from ingest.retention import ARCHIVE
from intel.errors import ConfigurationError, IocError, StoreDamaged, WritesRefused
from intel.redis_client import connection_pool
from intel.settings import ElasticsearchSettings, Settings, load_settings
from intel.store import Store, open_store

_PATIENCE_SECONDS = 5
_CHECK_SECONDS = 120
_REPAIR = (
    "Stop the service and keep a copy of the file ioc.sqlite3 in the data folder. Restore the newest backup, or save"
    " what can be read: sqlite3 ioc.sqlite3 .recover | sqlite3 new.sqlite3. `PRAGMA integrity_check` lists the damage."
    " Then start again."
)
_CORRECT_SETTING = "Correct it in the environment, then run this again."
_MAKE_WRITABLE = "Make room on the disk, or let the service's user write to the data folder and its files."
_OLDEST_PYTHON = (3, 11)
_OLDEST_SQLITE = (3, 35, 0)
_SCARCE_BYTES = 1_000_000_000


def reindex() -> None:
    """Show how far it has come for each index."""
    with progress_bar() as bar:
        tasks: dict[str, TaskID] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        async def run(store: Store, _: Settings) -> None:
            await store.reindex(progress)

        with_store(run)
    say("reindexed")


def doctor(*, as_json: bool) -> int:
    """Exit status 1 where something that is needed is not well."""
    configure_logs(level="WARNING")
    findings = asyncio.run(_examine())
    if as_json:
        print_json({"items": [asdict(finding) for finding in findings]})
    else:
        console = Console(highlight=False)
        for finding in findings:
            mark = ("–", "dim") if finding.absent else ("✓", "green") if finding.well else ("✗", "red")
            console.print(Text(f"{mark[0]} ", style=mark[1]) + Text(f"{finding.what}: {finding.found}"), soft_wrap=True)
            if finding.advice:
                console.print(Text(f"  → {finding.advice}"), soft_wrap=True)
    return 0 if all(finding.well for finding in findings) else 1


async def _examine() -> list[Finding]:
    try:
        settings = load_settings()
    except ConfigurationError as error:
        return [Finding("settings", False, str(error), _CORRECT_SETTING)]
    mode = "Elasticsearch and Redis" if settings.served else f"embedded, in {settings.data_dir.absolute()}"
    findings = [Finding("settings", True, mode), _python(), _second_reader()]
    if settings.served:
        findings += [await _look("Redis", _redis(settings), "Start Redis, or correct REDIS_URL.")]
    else:
        findings += [_sqlite(), _disk(settings)]
    findings += [_retention(settings)]
    if settings.served or has_data(settings):
        findings += [await _look("store", _store(settings), _store_advice(settings), _CHECK_SECONDS)]
    else:
        advice = "Set IOC_DATA_DIR to the data folder of the service, or fill this one: ioc import PATH"
        findings += [Finding("store", True, f"no data in {settings.data_dir.absolute()}", advice, absent=True)]
    if settings.elasticsearch is not None and findings[-1].well:
        findings += await _cluster(settings.elasticsearch)
    return [*findings, await _service(settings)]


async def _cluster(settings: ElasticsearchSettings) -> list[Finding]:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            return await look_at_cluster(settings)
    except (IocError, TimeoutError) as error:
        return [Finding("Elasticsearch", False, str(error) or "no answer", "Run this again in a moment.")]


async def _look(
    what: str, ask: Callable[[], Awaitable[str]], advice: str, seconds: float = _PATIENCE_SECONDS
) -> Finding:
    try:
        async with asyncio.timeout(seconds):
            return Finding(what, True, await ask())
    except StoreDamaged as error:
        return Finding(what, False, str(error), _REPAIR)
    except WritesRefused as error:
        return Finding(what, False, str(error), _MAKE_WRITABLE)
    except ConfigurationError as error:
        return Finding(what, False, str(error), _CORRECT_SETTING)
    except (IocError, RedisError, OSError, TimeoutError) as error:
        return Finding(what, False, str(error) or "no answer", advice)


def _python() -> Finding:
    well = sys.version_info >= _OLDEST_PYTHON
    return Finding("Python", well, sys.version.partition(" ")[0], "" if well else "It must be 3.11 or newer.")


def _second_reader() -> Finding:
    found = (
        "is installed" if is_installed() else "is not installed; defanged lines are read once (pip install iocextract)"
    )
    return Finding("iocextract", True, found, absent=not is_installed())


def _sqlite() -> Finding:
    well = sqlite3.sqlite_version_info >= _OLDEST_SQLITE
    return Finding(
        "SQLite", well, sqlite3.sqlite_version, "" if well else "It must be 3.35 or newer: use a newer Python."
    )


def _disk(settings: Settings) -> Finding:
    wanted = settings.data_dir.absolute()
    folder = next(each for each in (wanted, *wanted.parents) if each.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return Finding("data folder", False, f"{folder} cannot be written", "Set IOC_DATA_DIR to a folder of yours.")
    free = shutil.disk_usage(folder).free
    advice = "" if free > _SCARCE_BYTES else "Make room on the disk: writes stop when it is full."
    return Finding("disk", free > _SCARCE_BYTES, f"{free / 1e9:.1f} GB free", advice)


def _retention(settings: Settings) -> Finding:
    if settings.ioc_retention_days is None:
        return Finding("retention", True, "every article is kept; IOC_RETENTION_DAYS bounds that")
    found = f"articles older than {settings.ioc_retention_days} days go to {settings.data_dir / ARCHIVE}"
    return Finding("retention", True, found)


def _redis(settings: Settings) -> Callable[[], Awaitable[str]]:
    async def ask() -> str:
        redis = Redis.from_pool(connection_pool(settings.redis_address or "", socket_timeout=_PATIENCE_SECONDS))
        try:
            info = await redis.info("server")
            return f"answers, version {info['redis_version']}"
        finally:
            await redis.aclose()

    return ask


def _store(settings: Settings) -> Callable[[], Awaitable[str]]:
    async def ask() -> str:
        store = open_store(settings)
        try:
            await store.setup()
            totals = await store.totals()
            catalogues = await store.catalogues.all()
            await store.check()
        finally:
            await store.close()
        waiting = sum(number for status, number in totals.submissions.items() if status in ("queued", "fetching"))
        dated = "".join(f"; {one.name} of {one.as_of:%Y-%m-%d}" for one in catalogues)
        return f"{totals.articles} articles, {totals.iocs} indicators, {waiting} submissions under way{dated}"

    return ask


def _store_advice(settings: Settings) -> str:
    if settings.served:
        return "Start Elasticsearch, or correct ELASTICSEARCH_URL and its credentials."
    return "Set IOC_DATA_DIR to a folder that can be written."


async def _service(settings: Settings) -> Finding:
    """Report that no service runs: worth knowing, but nothing is wrong with it."""
    try:
        async with httpx.AsyncClient(timeout=_PATIENCE_SECONDS, trust_env=False) as client:
            answer = await client.get(f"{settings.base_url}/readyz")
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        return Finding("service", True, f"none runs at {settings.base_url}", "Start one with: ioc serve", absent=True)
    well = answer.status_code == 200
    found = f"ready at {settings.base_url}" if well else f"{settings.base_url} answers {answer.status_code}"
    return Finding("service", well, found, " ".join(_reasons(answer)) or ("" if well else "See its log."))


def _reasons(answer: httpx.Response) -> list[str]:
    """Return why the service is not what it should be; another one at its address may answer anything."""
    try:
        return [str(reason) for reason in answer.json()["reasons"]]
    except (ValueError, KeyError, TypeError):
        return []
