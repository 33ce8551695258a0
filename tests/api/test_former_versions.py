"""Stores that former versions wrote, each by its own code: the newest one opens them with all that they hold.

One more is kept for each version that changes the tables: `ioc import` of one report and `ioc account create`, by it.
Of SQLite that is the file, of Elasticsearch each index with its mappings, settings and documents, a line each.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.api.running import GENEROUS, Running, running

_FOLDER = Path(__file__).parent / "former"
FORMER = sorted(_FOLDER.glob("*.gz"))
REPORTED = {"evil.example", "http://evil.example/x", "192.0.2.1", "44d88612fea8a8f36de82e1278abb02f"}
# A rebuilding makes two dozen indices.
pytestmark = pytest.mark.timeout(900)
SECRET = "one that is long enough to sign with"


@pytest_asyncio.fixture(params=FORMER, ids=lambda file: file.name.removesuffix(".gz"))
async def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Running]:
    """The service on what a former version wrote."""
    written = gzip.decompress(request.param.read_bytes())
    settings: dict[str, Any] = dict(GENEROUS)
    if ".sqlite3" in request.param.name:
        (tmp_path / "ioc.sqlite3").write_bytes(written)
    else:
        url, prefix = request.getfixturevalue("elasticsearch_url"), request.getfixturevalue("unmade_prefix")
        await make_indices(url, prefix, [json.loads(line) for line in written.splitlines()])
        settings |= {"elasticsearch_url": url, "elasticsearch_index_prefix": prefix, "ioc_secret_key": SECRET}
        settings |= {"redis_url": request.getfixturevalue("redis_database")}
    async with running(tmp_path, **settings) as started:
        await started.store.setup()
        yield started


async def make_indices(url: str, prefix: str, lines: list[dict[str, Any]]) -> None:
    """Make each index, and put the documents that follow into it."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        index = ""
        for line in lines:
            if "index" in line:
                index = f"/{prefix}{line['index']}"
                aliases = {f"{prefix}{alias}": held for alias, held in line["aliases"].items()}
                body = {"mappings": line["mappings"], "settings": {"index": line["settings"]}, "aliases": aliases}
                stored = await client.put(index, json=body)
            else:
                stored = await client.put(f"{index}/_doc/{line['id']}", params={"refresh": "true"}, json=line["source"])
            stored.raise_for_status()


@pytest.mark.slow
async def test_all_that_a_former_version_stored_is_found_and_goes_on_to_be_counted_and_rebuilt(
    upgraded: Running,
) -> None:
    assert len(await upgraded.store.accounts.all()) == 1
    key = await upgraded.key()
    assert set(await upgraded.values(key)) == REPORTED
    assert "evil.example" in await upgraded.values(key, q="evil.example")
    (article,) = await upgraded.items("/articles", key)
    assert (await upgraded.get(f"/articles/{article['id']}", key)).json()["iocs_total"] == len(REPORTED)
    followed = (await upgraded.get("/changes", key, limit=100)).json()["items"]
    assert {change["ioc"]["value"] for change in followed} == REPORTED

    await upgraded.publish("another", "domain evil.example", "domain new.example")
    await upgraded.store.reindex(lambda what, done, total: None)
    found = {item["value"]: item for item in await upgraded.items("/iocs", key)}
    assert set(found) == REPORTED | {"new.example"}
    assert found["evil.example"]["sightings"] == 2
    path = f"/api/v1/iocs/{found['192.0.2.1']['id']}/false-positive"
    assert (await upgraded.client.put(path, headers=key)).status_code == 200
