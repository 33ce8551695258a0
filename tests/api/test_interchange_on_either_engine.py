"""What goes out to other programs is the same on both engines: exports, feeds, TAXII, MISP and what MCP answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import get_args
from urllib.parse import quote

import orjson
import pytest
import pytest_asyncio

from api.formats.exporting import ExportFormat
from tests.api.running import Running
from tests.api.test_either_engine import Pair, on_both

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]
_JSON_RPC = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_TAXII = {"Accept": "application/taxii+json;version=2.1"}
_EXPORTS = [f"/api/v1/export?format={one}{more}" for one in get_args(ExportFormat) for more in ("", "&type=domain")]
_PAGES = [f"/api/v1/iocs?format={one}&limit=7" for one in ("csv", "stix", "txt")]
_FEEDS = ["/api/v1/iocs.atom", "/api/v1/articles.atom", "/misp/manifest.json", "/misp/hashes.csv"]


@pytest_asyncio.fixture
async def both(tmp_path: Path, elasticsearch_url: str, index_prefix: str, redis_database: str) -> AsyncIterator[Pair]:
    async with on_both(tmp_path, elasticsearch_url, index_prefix, redis_database) as pair:
        yield pair


async def asked(service: Running, path: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    answer = await service.client.get(path, headers=dict(headers))
    return answer.status_code, answer.content


async def alike(pair: Pair, path: str, *headers: Mapping[str, str]) -> bytes:
    """Ask both, each with its headers; return the one answer of both."""
    one, two = await asyncio.gather(*map(asked, pair, (path, path), headers))
    assert one == two, path
    assert one[0] == 200, (path, one)
    return one[1]


async def called(service: Running, key: Mapping[str, str], tool: str, **arguments: object) -> object:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    answer = await service.client.post("/mcp", content=orjson.dumps(call), headers={**_JSON_RPC, **key})
    assert answer.status_code == 200, answer.text
    return orjson.loads(answer.content)["result"]


@pytest.mark.promise("search.same-on-both-engines")
async def test_what_other_programs_read_is_the_same_on_both_engines(both: Pair) -> None:
    keys = (await both[0].key(), await both[1].key())
    for path in (*_EXPORTS, *_PAGES, *_FEEDS):
        assert await alike(both, path, *keys)
    manifest = orjson.loads(await alike(both, "/misp/manifest.json", *keys))
    for uuid in [*manifest][:3]:
        await alike(both, f"/misp/{uuid}.json", *keys)
    found = orjson.loads(await alike(both, "/api/v1/iocs?limit=3", *keys))["items"]
    for one in found:
        told = [
            await called(service, key, "lookup_ioc", value=one["value"])
            for service, key in zip(both, keys, strict=True)
        ]
        assert told[0] == told[1] and one["value"] in str(told[0])
    told = [await called(service, key, "list_iocs", limit=5) for service, key in zip(both, keys, strict=True)]
    assert told[0] == told[1]


async def test_a_taxii_collection_is_walked_alike_and_a_version_is_matched_to_the_microsecond(both: Pair) -> None:
    # When something was added is each store's own, so that these answers are alike but for their dates.
    keys = [{**await service.key(), **_TAXII} for service in both]
    walks = [await walked(service, key) for service, key in zip(both, keys, strict=True)]
    assert sorted(walks[0]) == sorted(walks[1])
    for service, key in zip(both, keys, strict=True):
        path = "/taxii2/api/collections/domain"
        objects = orjson.loads((await asked(service, f"{path}/objects/?limit=5", key))[1])["objects"]
        (one, *_) = [each for each in objects if each["type"] == "indicator"]
        stamped = quote(one["modified"], safe="")
        status, body = await asked(service, f"{path}/objects/?match[id]={one['id']}&match[version]={stamped}", key)
        assert status == 200 and [each["id"] for each in orjson.loads(body)["objects"]] == [one["id"]]
        finer = quote(one["modified"].replace("Z", "000Z"), safe="")
        status, body = await asked(service, f"{path}/objects/?match[id]={one['id']}&match[version]={finer}", key)
        assert status == 200 and [each["id"] for each in orjson.loads(body)["objects"]] == [one["id"]]


async def walked(service: Running, key: Mapping[str, str]) -> list[str]:
    """Return the ids of all objects of the collection of everything."""
    ids, next = list[str](), ""
    while True:
        status, body = await asked(service, f"/taxii2/api/collections/all/objects/?limit=40{next}", key)
        assert status == 200, body
        page = orjson.loads(body)
        ids += [one["id"] for one in page.get("objects", [])]
        if not page.get("more"):
            return ids
        next = f"&next={quote(page['next'], safe='')}"
