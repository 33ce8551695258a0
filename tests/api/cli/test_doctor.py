"""Each failure that `ioc doctor` can find, caused here: what it says is wrong, and what to do."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections import namedtuple
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from api.cli import cluster_findings
from api.cli.cluster_findings import look_at_cluster
from api.cli.finding import Finding
from intel.records import Catalogue
from intel.settings import ElasticsearchSettings
from intel.store.condition import Condition, IndexCondition
from intel.store.sqlite.store import SqliteStore
from intel.times import utc_now
from tests.api.cli.conftest import Ask
from tests.contract.store.builders import make_article, make_submission, publish

pytestmark = [pytest.mark.promise("cli.doctor"), pytest.mark.slow]

Version = namedtuple("Version", "major minor micro")
Usage = namedtuple("Usage", "total used free")


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
        (replace(WELL, fullest_disk=91, watermark="high"), "disks", "add a node"),
        (replace(WELL, clock_ahead=-90.0), "clock", "NTP"),
        (replace(WELL, status="red", unassigned=2), "Elasticsearch", "out of reach"),
    ],
    ids=["blocked", "disk", "clock", "red"],
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


def kept(folder: Path, do: Callable[[SqliteStore], Awaitable[object]], clock: Callable[[], datetime] = utc_now) -> None:
    """Do something to an embedded store, and close it."""

    async def done() -> None:
        store = SqliteStore(folder / "data" / "ioc.sqlite3", clock)
        await store.setup()
        await do(store)
        await store.close()

    asyncio.run(done())


@pytest.mark.parametrize(("days", "said"), [(None, "never"), (3, "last fetched")])
def test_a_catalogue_that_was_not_fetched_when_it_should(ask: Ask, tmp_path: Path, days: int | None, said: str) -> None:
    then = utc_now() - timedelta(days=days or 0)

    async def imported(store: SqliteStore) -> None:
        if days is not None:
            await store.catalogues.put(Catalogue("kev", then, then, "https://lists.example", 1), {})

    kept(tmp_path, imported)
    told = ask(IOC_CATALOGUES="kev=https://lists.example/kev.json")
    assert set(told) == {"catalogues"} and said in told["catalogues"]["found"]
    assert "ioc import kev" in told["catalogues"]["advice"]


def test_a_catalogue_of_yesterday_is_fresh(ask: Ask, tmp_path: Path) -> None:
    then = utc_now() - timedelta(days=1, hours=1)
    kept(tmp_path, lambda store: store.catalogues.put(Catalogue("kev", then, then, "https://lists.example", 1), {}))
    assert ask(IOC_CATALOGUES="kev=https://lists.example/kev.json") == {}


def test_a_submission_that_nobody_reads(ask: Ask, tmp_path: Path) -> None:
    kept(tmp_path, lambda store: store.submissions.add(make_submission()))
    told = ask()
    assert set(told) == {"queue"} and "ioc serve" in told["queue"]["advice"]


def test_a_clock_that_was_set_back(ask: Ask, tmp_path: Path) -> None:
    tomorrow = utc_now() + timedelta(days=1)
    kept(tmp_path, lambda store: publish(store, make_article(), "domain evil.example"), lambda: tomorrow)
    told = ask()
    assert set(told) == {"clock"} and "NTP" in told["clock"]["advice"]


def test_a_proxy_that_is_away(ask: Ask) -> None:
    told = ask(IOC_FETCH_PROXY="http://user:pass-of-it@127.0.0.1:9")
    assert set(told) == {"proxy"} and "IOC_FETCH_PROXY" in told["proxy"]["advice"]
    assert "pass-of-it" not in str(told)


def test_a_proxy_that_is_there(ask: Ask, httpserver: HTTPServer) -> None:
    assert ask(IOC_FETCH_PROXY=httpserver.url_for("").rstrip("/")) == {}
