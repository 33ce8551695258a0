"""One suite, every adapter: `store` is each of them in turn, `other_store` a second object on the same data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
import pytest_asyncio

from intel.records import Vote
from intel.settings import ElasticsearchSettings
from intel.store.elastic.store import ElasticStore
from intel.store.port import Store
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import hour, id_of
from tests.contract.store.corpus import make_corpus
from tests.indices import SHARDS, unmade
from tests.stores import lay_store

Open = Callable[[], Store]
# The corpus on an engine: what opens a store of it, and what saving each of its articles came to.
CorpusOn = Callable[[str], tuple[Open, tuple[object, ...]]]
ENGINES = ("sqlite", "elasticsearch")


def open_sqlite(folder: Path) -> Open:
    return lambda: SqliteStore(folder / "data" / "store.db")


def open_elasticsearch(url: str, prefix: str) -> Open:
    """Opens stores whose indices all begin with `prefix`."""
    return lambda: ElasticStore(ElasticsearchSettings(nodes=(url,), index_prefix=prefix, shards=SHARDS))


@pytest.fixture
def open_elastic(elasticsearch_url: str, index_prefix: str) -> Open:
    return open_elasticsearch(elasticsearch_url, index_prefix)


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
    return open_elasticsearch(request.getfixturevalue("elasticsearch_url"), request.getfixturevalue("unmade_prefix"))


async def opened(open_store: Open) -> AsyncIterator[Store]:
    """Yields a store, and closes it."""
    store = open_store()
    try:
        # Indices are lent and the corpus is saved set up, and to look at each anew is a third of a short test.
        if not isinstance(store, ElasticStore):
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
        await store.setup()
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
                opener = open_elasticsearch(url, stack.enter_context(unmade(url)))
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
