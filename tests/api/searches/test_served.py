"""Saved searches where Elasticsearch keeps everything and several workers tell the receivers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from api.searches.telling import open_telling
from ingest.assembly import open_ingest
from intel.store import open_store
from tests.api.running import GENEROUS, Running, running
from tests.api.searches.receiver import receiving
from tests.api.searches.test_searches import saved, told

_WORKERS = 3


@asynccontextmanager
async def telling(api: Running) -> AsyncIterator[None]:
    """Another worker's part in it, on a store of its own."""
    settings = api.service.settings
    store = open_store(settings)
    ingest = open_ingest(settings, store)
    task = asyncio.ensure_future(open_telling(settings, store, ingest, api.clock)())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await ingest.close()
        await store.close()


@pytest.mark.promise("searches.told-once")
@pytest.mark.timeout(900)
async def test_several_workers_tell_each_addition_once(
    tmp_path: Path, elasticsearch_url: str, index_prefix: str, redis_database: str
) -> None:
    engines = {
        "elasticsearch_url": elasticsearch_url,
        "elasticsearch_index_prefix": index_prefix,
        "redis_url": redis_database,
        "ioc_secret_key": "the same on every server",
    }
    async with AsyncExitStack() as stack:
        receiver = stack.enter_context(receiving())
        api = await stack.enter_async_context(running(tmp_path, **GENEROUS, **engines))
        await api.store.setup()
        await api.publish("before", "domain before.example")
        await saved(api, await api.key(), receiver)
        for _ in range(_WORKERS):
            await stack.enter_async_context(telling(api))
        for number in range(6):
            await api.publish(f"report-{number}", f"domain d{number}.example", f"domain e{number}.example")
        await told(receiver, 12)
        await api.publish("late", "domain late.example")
        values = await told(receiver, 13)
    expected = [f"{letter}{number}.example" for letter in "de" for number in range(6)]
    assert sorted(values) == sorted([*expected, "late.example"])
