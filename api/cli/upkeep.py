"""`ioc reindex` and `ioc doctor`."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from dataclasses import asdict
from functools import partial

import httpx
from rich.console import Console
from rich.progress import TaskID
from rich.text import Text

from api.cli.cluster_findings import look_at_cluster, look_at_privileges
from api.cli.finding import CORRECT_SETTING, PATIENCE_SECONDS, Finding, look
from api.cli.redis_findings import look_at_redis
from api.cli.running import has_data, print_json, progress_bar, say, with_store
from api.cli.store_findings import look_at_store
from api.cli.way_findings import look_at_certificates, look_at_proxy
from api.logs import configure_logs
from ingest.indicators.iocextract_step import is_installed
from ingest.retention import ARCHIVE
from intel.errors import ConfigurationError
from intel.settings import Settings, load_settings
from intel.store import Store

_CHECK_SECONDS = 120
_START_REDIS = "Start Redis, or correct REDIS_URL."
_AGAIN = "Run this again in a moment."
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

        with_store(run, reads=True)
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
        return [Finding("settings", False, str(error), CORRECT_SETTING)]
    mode = "Elasticsearch and Redis" if settings.served else f"embedded, in {settings.data_dir.absolute()}"
    findings = [Finding("settings", True, mode), _python(), _second_reader()]
    if settings.served:
        findings += await look("Redis", partial(look_at_redis, settings.redis_address or ""), _START_REDIS)
    else:
        findings += [_sqlite(), _disk(settings)]
    findings += [_retention(settings), *await look_at_certificates(settings), *await look_at_proxy(settings)]
    return [*findings, *await _stored(settings), await _service(settings)]


async def _stored(settings: Settings) -> list[Finding]:
    """Look at the store, and at the cluster that it is in."""
    if not settings.served and not has_data(settings):
        advice = "Set IOC_DATA_DIR to the data folder of the service, or fill this one: ioc import PATH"
        return [Finding("store", True, f"no data in {settings.data_dir.absolute()}", advice, absent=True)]
    found = await look("store", partial(look_at_store, settings), _store_advice(settings), _CHECK_SECONDS)
    cluster = settings.elasticsearch
    if cluster is None:
        return found
    if not found[0].well:
        # Whatever else keeps them from being asked is told of the store already.
        denied = await look("privileges", partial(look_at_privileges, cluster), "")
        return [*found, *(each for each in denied if each.advice)]
    found += await look("privileges", partial(look_at_privileges, cluster), _AGAIN)
    return found + await look("Elasticsearch", partial(look_at_cluster, cluster), _AGAIN, _CHECK_SECONDS)


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


def _store_advice(settings: Settings) -> str:
    if settings.served:
        return "Start Elasticsearch, or correct ELASTICSEARCH_URL and its credentials."
    return "Set IOC_DATA_DIR to a folder that can be written."


async def _service(settings: Settings) -> Finding:
    """Report that no service runs: worth knowing, but nothing is wrong with it."""
    try:
        async with httpx.AsyncClient(timeout=PATIENCE_SECONDS, trust_env=False) as client:
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
