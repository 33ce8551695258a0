"""Files that former versions wrote, each by its own code: the newest one opens them with all that they hold.

One more is kept for each version that changes the tables: `ioc import` of one report and `ioc account create`, by it.
"""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.api.running import GENEROUS, Running, running

FORMER = sorted((Path(__file__).parent / "former").glob("*.sqlite3.gz"))
REPORTED = {"evil.example", "http://evil.example/x", "192.0.2.1", "44d88612fea8a8f36de82e1278abb02f"}


@pytest_asyncio.fixture(params=FORMER, ids=lambda file: file.name.partition(".")[0])
async def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Running]:
    """The service on a file that a former version wrote."""
    (tmp_path / "ioc.sqlite3").write_bytes(gzip.decompress(request.param.read_bytes()))
    async with running(tmp_path, **GENEROUS) as started:
        yield started


async def test_all_that_a_former_version_stored_is_found(upgraded: Running) -> None:
    assert len(await upgraded.store.accounts.all()) == 1
    key = await upgraded.key()
    assert set(await upgraded.values(key)) == REPORTED
    assert "evil.example" in await upgraded.values(key, q="evil.example")
    (article,) = await upgraded.items("/articles", key)
    assert (await upgraded.get(f"/articles/{article['id']}", key)).json()["iocs_total"] == len(REPORTED)
    followed = (await upgraded.get("/changes", key, limit=100)).json()["items"]
    assert {change["ioc"]["value"] for change in followed} == REPORTED


async def test_what_a_former_version_stored_goes_on_to_be_counted_and_rebuilt(upgraded: Running) -> None:
    key = await upgraded.key()
    await upgraded.publish("another", "domain evil.example", "domain new.example")
    await upgraded.store.reindex(lambda what, done, total: None)
    found = {item["value"]: item for item in await upgraded.items("/iocs", key)}
    assert set(found) == REPORTED | {"new.example"}
    assert found["evil.example"]["sightings"] == 2
    path = f"/api/v1/iocs/{found['192.0.2.1']['id']}/false-positive"
    assert (await upgraded.client.put(path, headers=key)).status_code == 200
