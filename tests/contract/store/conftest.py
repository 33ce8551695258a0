"""One suite, every adapter: `store` is each of them in turn, `other_store` a second object on the same data."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from intel.records import Vote
from intel.settings import ElasticsearchSettings
from intel.store.elastic.store import ElasticStore
from intel.store.port import Store
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import hour, id_of
from tests.contract.store.corpus import make_corpus
from tests.stores import lay_store

Open = Callable[[], Store]
# The corpus on an engine: what opens a store of it, and what saving each of its articles came to.
CorpusOn = Callable[[str], tuple[Open, tuple[object, ...]]]
ENGINES = ("sqlite", "elasticsearch")
# Answers are the same however many shards there are: `TEST_SHARDS=3 scripts/test tests/contract/store`.
_SHARDS = int(os.environ.get("TEST_SHARDS", "1"))


def open_sqlite(folder: Path) -> Open:
    return lambda: SqliteStore(folder / "data" / "store.db")


def open_elasticsearch(url: str, prefix: str) -> Open:
    """Opens stores whose indices all begin with `prefix`."""
    return lambda: ElasticStore(ElasticsearchSettings(nodes=(url,), index_prefix=prefix, shards=_SHARDS))


@pytest.fixture
def new_prefix(elasticsearch_url: str) -> Iterator[str]:
    """Begins the names of indices that nobody has made yet."""
    yield from _prefix(elasticsearch_url)


@pytest.fixture(scope="session")
def used_prefix(elasticsearch_url: str) -> Iterator[str]:
    """Begins the names of one set of indices for many tests, because making one takes longer than most tests do."""
    yield from _prefix(elasticsearch_url)


def _prefix(url: str) -> Iterator[str]:
    prefix = f"t{uuid.uuid4().hex[:12]}-"
    yield prefix
    with httpx.Client(base_url=url, timeout=30) as client:
        every = {"format": "json", "expand_wildcards": "all"}
        for index in client.get(f"/_cat/indices/{prefix}*", params=every).json():
            client.delete(f"/{index['index']}").raise_for_status()  # one by one: servers refuse wildcards


@pytest.fixture
def open_elastic(elasticsearch_url: str, used_prefix: str) -> Iterator[Open]:
    yield open_elasticsearch(elasticsearch_url, used_prefix)
    with httpx.Client(base_url=elasticsearch_url, timeout=30) as client:
        for index, held in client.get(f"/{used_prefix}*/_alias").raise_for_status().json().items():
            if not held["aliases"]:  # what a rebuilding left behind; it takes no writes
                client.delete(f"/{index}").raise_for_status()
        while _delete_documents(client, used_prefix):
            pass


def _delete_documents(client: httpx.Client, prefix: str) -> bool:
    """Deletes up to 10,000 documents; False where there are none."""
    client.post(f"/{prefix}*/_refresh").raise_for_status()
    found = client.post(f"/{prefix}*/_search", json={"size": 10_000, "_source": False}).raise_for_status()
    hits = found.json()["hits"]["hits"]
    if hits:
        lines = [json.dumps({"delete": {"_index": hit["_index"], "_id": hit["_id"]}}) + "\n" for hit in hits]
        kind = {"Content-Type": "application/x-ndjson"}
        deleted = client.post("/_bulk", content="".join(lines), headers=kind).raise_for_status().json()
        assert not deleted["errors"], deleted["items"][:3]
    return bool(hits)


@pytest.fixture(params=ENGINES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens an empty store, each time on the same data."""
    if request.param == "sqlite":
        lay_store(tmp_path / "data" / "store.db")
        return open_sqlite(tmp_path)
    opener: Open = request.getfixturevalue("open_elastic")
    return opener


@pytest.fixture(params=ENGINES)
def open_new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens a store that was never set up, each time on the same data."""
    if request.param == "sqlite":
        return open_sqlite(tmp_path)
    return open_elasticsearch(request.getfixturevalue("elasticsearch_url"), request.getfixturevalue("new_prefix"))


async def opened(open_store: Open) -> AsyncIterator[Store]:
    """Yields a store that is set up, and closes it."""
    store = open_store()
    try:
        await store.setup()
        yield store
    finally:
        await store.close()


@pytest_asyncio.fixture
async def store(open_store: Open) -> AsyncIterator[Store]:
    async for each in opened(open_store):
        yield each


@pytest_asyncio.fixture
async def other_store(open_store: Open, store: Store) -> AsyncIterator[Store]:
    async for each in opened(open_store):
        yield each


@pytest_asyncio.fixture
async def sqlite_store(tmp_path: Path) -> AsyncIterator[Store]:
    lay_store(tmp_path / "data" / "store.db")
    async for each in opened(open_sqlite(tmp_path)):
        yield each


@pytest_asyncio.fixture
async def elastic_store(open_elastic: Open) -> AsyncIterator[Store]:
    async for each in opened(open_elastic):
        yield each


async def _save_corpus(open_store: Open) -> tuple[object, ...]:
    async for store in opened(open_store):
        results = [
            await store.articles.save(saved.article, saved.sightings, [saved.article.url or ""])
            for saved in make_corpus()
        ]
        for account in ("account-a", "account-b"):
            await store.votes.put(Vote(id_of("domain evil.example"), account, "", hour(1)))
    return tuple(results)


@pytest.fixture(scope="session")
def corpus_on(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CorpusOn]:
    """Saves the corpus, with two votes on evil.example, once on each engine; tests that take it only read."""
    with ExitStack() as stack:

        @cache
        def corpus(engine: str) -> tuple[Open, tuple[object, ...]]:
            if engine == "sqlite":
                opener = open_sqlite(tmp_path_factory.mktemp("corpus"))
            else:
                url = request.getfixturevalue("elasticsearch_url")
                opener = open_elasticsearch(url, stack.enter_context(contextmanager(_prefix)(url)))
            return opener, asyncio.run(_save_corpus(opener))

        yield corpus


@pytest.fixture(params=ENGINES)
def open_corpus(request: pytest.FixtureRequest, corpus_on: CorpusOn) -> Open:
    opener, _ = corpus_on(request.param)
    return opener


@pytest_asyncio.fixture
async def corpus_store(open_corpus: Open) -> AsyncIterator[Store]:
    """Yields a store that holds the corpus and two votes; only for reading."""
    async for each in opened(open_corpus):
        yield each
