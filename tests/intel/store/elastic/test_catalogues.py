"""Imports of catalogues that die on the way leave nothing behind for good."""

from __future__ import annotations

import asyncio
import secrets

import httpx
import pytest

from intel.errors import StoreUnavailable
from intel.records import Catalogue
from intel.store.elastic.store import ElasticStore
from tests.contract.store.builders import hour
from tests.intel.store.elastic.wire import Wire

pytestmark = pytest.mark.asyncio

MANY = {f"part-{n}": bytes([n]) * 100 for n in range(120)}


def make_catalogue(entries: int) -> Catalogue:
    return Catalogue("exploited", hour(1), hour(2), "https://lists.example", entries)


async def stored_parts(url: str, prefix: str) -> int:
    """How many documents the parts of all imports make."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        await client.post(f"/{prefix}catalogue_parts/_refresh")
        return int((await client.get(f"/{prefix}catalogue_parts/_count")).raise_for_status().json()["count"])


async def test_imports_that_were_cut_short_are_never_read_and_vanish_with_the_next(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire, elasticsearch_url: str, index_prefix: str
) -> None:
    await store.catalogues.put(make_catalogue(1), {"part-0": b"old", "other": b"old"})
    left = 0
    for requests in (3, 4, 5):
        wire.requests_left = requests
        with pytest.raises(StoreUnavailable):
            await wired_store.catalogues.put(make_catalogue(2), MANY)
        wire.requests_left = None
        left = max(left, await stored_parts(elasticsearch_url, index_prefix))
        assert await store.catalogues.all() == (make_catalogue(1),)
        assert await store.catalogues.parts("exploited", list(MANY)) == {"part-0": b"old"}
    assert left > 2
    await store.catalogues.put(make_catalogue(3), MANY)
    assert await store.catalogues.parts("exploited", [*MANY, "other"]) == MANY
    assert await stored_parts(elasticsearch_url, index_prefix) == len(MANY)


async def test_of_two_imports_the_one_that_began_later_stands(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire, elasticsearch_url: str, index_prefix: str
) -> None:
    large = {f"part-{n}": secrets.token_bytes(200_000) for n in range(100)}
    slow = asyncio.create_task(wired_store.catalogues.put(make_catalogue(1), large))
    while not any("/_bulk" in head for head in wire.heads):
        await asyncio.wait({slow}, timeout=0.005)
    await store.catalogues.put(make_catalogue(2), {"part-0": b"later"})
    assert not slow.done()
    await slow
    assert await store.catalogues.all() == (make_catalogue(2),)
    assert await store.catalogues.parts("exploited", list(large)) == {"part-0": b"later"}
    assert await stored_parts(elasticsearch_url, index_prefix) == 1
