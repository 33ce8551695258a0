"""Each failure that `ioc doctor` can find, caused here: what it says is wrong, and what to do."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import sys
from collections import namedtuple
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from structlog.testing import capture_logs

from api.cli import cluster_findings, upkeep
from api.cli.cluster_findings import look_at_cluster
from api.cli.finding import Finding
from intel.settings import ElasticsearchSettings
from intel.store.condition import Condition, IndexCondition
from intel.store.sqlite.store import SqliteStore

pytestmark = [pytest.mark.promise("cli.doctor"), pytest.mark.slow]

Told = dict[str, dict[str, Any]]
Ask = Callable[..., Told]
Version = namedtuple("Version", "major minor micro")
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Ask:
    """Asks the doctor under these settings; what it says is not well, by what it looked at."""
    monkeypatch.setattr(upkeep, "configure_logs", lambda level: None)
    for name, value in {"IOC_DATA_DIR": tmp_path / "data", "IOC_BASE_URL": "http://127.0.0.1:9"}.items():
        monkeypatch.setenv(name, str(value))

    def asked(**settings: str) -> Told:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        with capture_logs():
            status = upkeep.doctor(as_json=True)
        unwell = {item["what"]: item for item in json.loads(capsysbinary.readouterr().out)["items"] if not item["well"]}
        assert status == (1 if unwell else 0)
        assert all(item["advice"] for item in unwell.values())
        return unwell

    return asked


def test_nothing_is_wrong_with_an_empty_folder(ask: Ask) -> None:
    assert ask() == {}


def test_a_setting_that_cannot_be_read(ask: Ask) -> None:
    told = ask(IOC_RATE_KEY="plenty")
    assert set(told) == {"settings"}
    assert "IOC_RATE_KEY" in told["settings"]["found"] and "Correct it" in told["settings"]["advice"]


def test_a_python_that_is_too_old(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", Version(3, 10, 9))
    told = ask()
    assert set(told) == {"Python"} and "3.11" in told["Python"]["advice"]


def test_an_sqlite_that_is_too_old(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    told = ask()
    assert set(told) == {"SQLite"} and "newer Python" in told["SQLite"]["advice"]


def test_a_file_where_the_data_folder_should_be(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    told = ask()
    assert set(told) == {"data folder"} and "IOC_DATA_DIR" in told["data folder"]["advice"]


def test_a_disk_that_is_nearly_full(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - 10**8, 10**8))
    told = ask()
    assert set(told) == {"disk"} and "Make room" in told["disk"]["advice"]


def no_database(file: Path) -> None:
    file.write_bytes(b"This is a shopping list, and no database.\n" * 300)


def cut_in_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def of_a_newer_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 9999")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(no_database, "restore it from a backup"), (cut_in_half, ".recover"), (of_a_newer_version, "newer version")],
)
def test_a_store_that_cannot_be_used(ask: Ask, tmp_path: Path, spoil: Callable[[Path], None], said: str) -> None:
    file = tmp_path / "data" / "ioc.sqlite3"
    asyncio.run(made(file))
    for beside in file.parent.glob("ioc.sqlite3-*"):
        beside.unlink()
    spoil(file)
    told = ask()
    assert set(told) == {"store"}
    assert said in told["store"]["found"] + told["store"]["advice"]
    assert "folder that can be written" not in told["store"]["advice"]


async def made(file: Path) -> None:
    store = SqliteStore(file)
    await store.setup()
    await store.close()


def test_engines_that_do_not_answer(ask: Ask) -> None:
    told = ask(
        ELASTICSEARCH_URL="http://127.0.0.1:9", REDIS_URL="redis://127.0.0.1:9/0", IOC_SECRET_KEY="a secret of a test"
    )
    assert set(told) == {"Redis", "store"}
    assert "REDIS_URL" in told["Redis"]["advice"] and "ELASTICSEARCH_URL" in told["store"]["advice"]


@pytest.mark.parametrize(
    ("status", "answer", "advice"),
    [
        (503, {"status": "waiting for the store", "reasons": ["The store is away."]}, "The store is away."),
        (500, "broken", "See its log."),
        (404, ["another service"], "See its log."),
    ],
)
def test_a_service_that_is_not_ready(
    ask: Ask, httpserver: HTTPServer, status: int, answer: object, advice: str
) -> None:
    httpserver.expect_request("/readyz").respond_with_json(answer, status)
    told = ask(IOC_BASE_URL=httpserver.url_for("").rstrip("/"))
    assert set(told) == {"service"} and told["service"]["advice"] == advice
    assert str(status) in told["service"]["found"]


WELL = Condition(3, "green", 0, 40, (), (IndexCondition("iocs", 1_000, 10**6, 1, 1, 1),))


@pytest.mark.parametrize(
    ("condition", "what", "advice"),
    [
        (replace(WELL, blocked=("iocs",)), "writes", "read_only_allow_delete"),
        (replace(WELL, fullest_disk=91), "disks", "add a node"),
        (replace(WELL, status="red", unassigned=2), "Elasticsearch", "out of reach"),
    ],
    ids=["blocked", "disk", "red"],
)
async def test_a_cluster_that_is_not_well(
    monkeypatch: pytest.MonkeyPatch, condition: Condition, what: str, advice: str
) -> None:
    unwell = [finding for finding in await looked_at(monkeypatch, condition) if not finding.well]
    assert [finding.what for finding in unwell] == [what] and advice in unwell[0].advice


@pytest.mark.parametrize(
    ("condition", "advice"),
    [
        (replace(WELL, nodes=1), "no second copy"),
        (replace(WELL, status="yellow", unassigned=1), "ELASTICSEARCH_REPLICAS"),
        (replace(WELL, indices=(replace(WELL.indices[0], wanted_shards=3),)), "ioc reindex"),
    ],
    ids=["one node", "yellow", "few shards"],
)
async def test_a_cluster_that_could_be_better(
    monkeypatch: pytest.MonkeyPatch, condition: Condition, advice: str
) -> None:
    found = await looked_at(monkeypatch, condition)
    assert all(finding.well for finding in found)
    assert any(advice in finding.advice for finding in found)


async def looked_at(monkeypatch: pytest.MonkeyPatch, condition: Condition) -> list[Finding]:
    async def told(settings: ElasticsearchSettings) -> Condition:
        return condition

    monkeypatch.setattr(cluster_findings, "condition_of", told)
    return await look_at_cluster(ElasticsearchSettings(nodes=("http://127.0.0.1:9",)))
