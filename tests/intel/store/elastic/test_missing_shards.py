"""A search that part of an index cannot answer fails: half of an answer would look like a whole one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio

from intel.errors import StoreUnavailable
from intel.settings import ElasticsearchSettings
from intel.store.elastic.client import Cluster
from intel.store.elastic.index import Index

pytestmark = pytest.mark.asyncio

EVERYTHING: Final[dict[str, Any]] = {"query": {"match_all": {}}}


@pytest_asyncio.fixture
async def server(elasticsearch_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=elasticsearch_url, timeout=30) as client:
        yield client


@pytest_asyncio.fixture
async def index(elasticsearch_url: str, unmade_prefix: str) -> AsyncIterator[Index]:
    cluster = Cluster(ElasticsearchSettings(nodes=(elasticsearch_url,), index_prefix=unmade_prefix))
    yield Index(cluster, f"{unmade_prefix}halved")
    await cluster.close()


async def test_no_search_answers_without_a_shard_that_is_away(server: httpx.AsyncClient, index: Index) -> None:
    only_one = {"number_of_shards": 2, "number_of_replicas": 0, "routing.allocation.total_shards_per_node": 1}
    body = {"settings": {f"index.{key}": value for key, value in only_one.items()}}
    (await server.put(f"/{index.name}", params={"wait_for_active_shards": "0"}, json=body)).raise_for_status()
    settled = {"wait_for_no_initializing_shards": "true", "timeout": "20s"}
    (await server.get(f"/_cluster/health/{index.name}", params=settled)).raise_for_status()
    with pytest.raises(StoreUnavailable):
        await index.search(EVERYTHING)
    with pytest.raises(StoreUnavailable):
        await index.search_many([EVERYTHING])
    with pytest.raises(StoreUnavailable):
        _ = [page async for page in index.pages(EVERYTHING, ["_shard_doc"])]


async def test_reading_on_in_what_is_no_longer_held_tells_that_the_store_is_unavailable(
    server: httpx.AsyncClient, index: Index
) -> None:
    (await server.put(f"/{index.name}", json={"settings": {"index.number_of_shards": 2}})).raise_for_status()
    async with index.held() as held:
        assert await index.count_of(held, EVERYTHING["query"]) == 0
        (await server.request("DELETE", "/_pit", json={"id": held})).raise_for_status()
        with pytest.raises(StoreUnavailable):
            _ = [page async for page in index.pages_of(held, EVERYTHING, ["_shard_doc"])]
        with pytest.raises(StoreUnavailable):
            await index.count_of(held, EVERYTHING["query"])
