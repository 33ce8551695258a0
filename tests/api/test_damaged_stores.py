"""A store that is damaged, or that takes no writes: what is answered, told and logged."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from intel.errors import StoreUnavailable
from tests.api.pages import eventually
from tests.api.running import GENEROUS, Running, running

_PAGE = 4096


async def fill(folder: Path) -> Path:
    """A store with something in it, closed."""
    async with running(folder, **GENEROUS) as api:
        for number in range(20):
            await api.publish(f"report-{number}", "domain evil.example", text="A line of the report.\n" * 500)
    return folder / "ioc.sqlite3"


def spoil_the_middle(file: Path) -> None:
    half = file.stat().st_size // 2 // _PAGE * _PAGE
    with file.open("r+b") as opened:
        opened.seek(half)
        opened.write(b"\xa5" * (half - _PAGE))


def cut_in_half(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2 // _PAGE * _PAGE)


def hand_to_a_newer_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 9999")


async def readiness(api: Running) -> tuple[int, str]:
    answer = await api.client.get("/readyz")
    return answer.status_code, answer.json()["status"]


async def until_red(api: Running) -> str:
    async def look() -> str | None:
        status, told = await readiness(api)
        return None if status == 200 else told

    return await eventually(look)


@pytest.mark.parametrize("spoil", [spoil_the_middle, cut_in_half])
async def test_a_damaged_store_is_said_to_be_damaged(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    file = await fill(tmp_path)
    with capture_logs() as logs:
        async with running(tmp_path, **GENEROUS) as api:
            spoil(file)
            with suppress(StoreUnavailable):
                await api.store.check()
            assert "damaged" in await until_red(api)
            answers = [await api.get("/articles", q="report") for _ in range(3)]
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert "damaged" in answer.json()["detail"] and "try again" not in answer.json()["detail"]
        assert answer.headers["retry-after"].isdigit()
    assert len([line for line in logs if line["log_level"] == "error"]) == 1


async def test_tables_that_a_newer_version_changed_turn_readiness_red(tmp_path: Path) -> None:
    async with running(tmp_path, **GENEROUS) as api:
        assert await readiness(api) == (200, "ready")
        hand_to_a_newer_version(tmp_path / "ioc.sqlite3")
        assert (await readiness(api))[0] == 503


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """No file of this process grows beyond what the store's files have now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(_PAGE, *(f.stat().st_size for f in folder.glob("*-wal"))), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_reading_goes_on_where_the_disk_is_full(tmp_path: Path) -> None:
    async with running(tmp_path, **GENEROUS) as api:
        key = await api.key()
        await api.publish("one", "domain evil.example", text="It was evil.")
        (found,) = await api.items("/iocs")
        with full_disk(tmp_path):
            for path in ("/iocs", "/weekly", "/weekly/2026-W47", "/weekly.atom", "/focus", "/articles", "/usage"):
                assert (await api.get(path, key)).status_code == 200, path
            refused = await api.client.put(f"/api/v1/iocs/{found['id']}/false-positive", headers=key)
            assert await readiness(api) == (200, "ready")
        assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
        assert "disk is full" in refused.json()["detail"]
        assert (await api.client.put(f"/api/v1/iocs/{found['id']}/false-positive", headers=key)).status_code == 200
        assert (await api.get("/weekly/2026-W47")).json()["revision"] == 1


async def test_a_store_that_is_damaged_from_the_start_is_found_out_without_a_request(tmp_path: Path) -> None:
    spoil_the_middle(await fill(tmp_path))
    async with running(tmp_path, **GENEROUS) as api:
        assert "damaged" in await until_red(api)
