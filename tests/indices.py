"""Sets of indices on the real server for tests: making one takes longer than most tests do, so each serves many."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from intel.settings import ElasticsearchSettings
from intel.store.elastic.store import ElasticStore

# Answers are the same however many shards there are: `TEST_SHARDS=3 scripts/test tests/contract/store`.
SHARDS = int(os.environ.get("TEST_SHARDS", "1"))
_EVERY = {"expand_wildcards": "all"}
# To make indices anew takes as long as to delete so many documents.
_MOST_DELETED = 9_000


@contextmanager
def unmade(url: str) -> Iterator[str]:
    """Gives a prefix under which nobody made an index yet; what stands there afterwards is deleted."""
    prefix = f"test-{uuid.uuid4().hex[:12]}-"
    yield prefix
    with _client(url) as client:
        _drop(client, prefix)


class MadeIndices:
    """Indices of empty stores, each set of them under a prefix of its own.

    A set is lent again after its documents are deleted, if its indices are still those that were made, with the same
    aliases, fields and settings; otherwise it is deleted.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._made: dict[str, Any] = {}
        self._free: list[str] = []

    @contextmanager
    def lent(self) -> Iterator[str]:
        """Gives the prefix of an empty store that is set up; what was stored meanwhile goes when it is lent again."""
        with _client(self._url) as client:
            prefix = self._emptied(client)
            yield prefix
            if _state(client, prefix) == self._made[prefix]:
                self._free.append(prefix)
            else:
                _drop(client, prefix)

    def _emptied(self, client: httpx.Client) -> str:
        while True:
            prefix = self._free.pop() if self._free else self._make(client)
            if _empty(client, prefix):
                return prefix
            _drop(client, prefix)

    def drop(self) -> None:
        with _client(self._url) as client:
            for prefix in self._free:
                _drop(client, prefix)

    def _make(self, client: httpx.Client) -> str:
        prefix = f"test-{uuid.uuid4().hex[:12]}-"
        with ThreadPoolExecutor(1) as apart:  # a browser's test has a loop of its own running
            apart.submit(asyncio.run, self._set_up(prefix)).result()
        self._made[prefix] = _state(client, prefix)
        return prefix

    async def _set_up(self, prefix: str) -> None:
        store = ElasticStore(ElasticsearchSettings(nodes=(self._url,), index_prefix=prefix, shards=SHARDS))
        try:
            await store.setup()
        finally:
            await store.close()


def _client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=30)


def _state(client: httpx.Client, prefix: str) -> Any:
    return client.get(f"/{prefix}*", params=_EVERY).raise_for_status().json()


def _drop(client: httpx.Client, prefix: str) -> None:
    # By name: servers refuse wildcards.
    if names := list(client.get(f"/{prefix}*/_alias", params=_EVERY).raise_for_status().json()):
        client.delete(f"/{','.join(names)}").raise_for_status()


def _empty(client: httpx.Client, prefix: str) -> bool:
    """Deletes the documents; False where there are so many that new indices cost less."""
    client.post(f"/{prefix}*/_refresh").raise_for_status()
    found = client.post(f"/{prefix}*/_search", json={"size": _MOST_DELETED + 1, "_source": False}).raise_for_status()
    hits = found.json()["hits"]["hits"]
    if 0 < len(hits) <= _MOST_DELETED:
        lines = [json.dumps({"delete": {"_index": hit["_index"], "_id": hit["_id"]}}) + "\n" for hit in hits]
        kind = {"Content-Type": "application/x-ndjson"}
        deleted = client.post("/_bulk", content="".join(lines), headers=kind, params={"refresh": "true"})
        assert not deleted.raise_for_status().json()["errors"], deleted.text[:500]
    return len(hits) <= _MOST_DELETED
