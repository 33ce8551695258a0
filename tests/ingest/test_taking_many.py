"""Articles that are taken in together are as if they had been taken in one after the other, on both engines."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.fetch import FetchedPage
from ingest.pipeline import Pipeline
from ingest.reading import Page, ReadPage, read_page
from ingest.revisions import Revisions
from intel.errors import FetchFailed
from intel.query import IocQuery
from intel.records import Article
from intel.store import Store
from intel.store.sqlite.store import SqliteStore
from tests.api.running import NOON, Clock
from tests.ingest.writing import prose, reworded, table
from tests.stores import lay_store

pytestmark = pytest.mark.timeout(900)

ORIGINAL = f"{prose(1)} It called evil-kestrel[.]org at night.\n\n{table(0, 3)}"


def read(text: str, source: str) -> ReadPage:
    return read_page(Page(text.encode(), "text/plain", None, None, source, NOON))


def reports() -> list[ReadPage]:
    """Copies of two texts, reports of their own and one that comes twice."""
    copies = [f"{prose(50 + n, 3)}\n{reworded(ORIGINAL, 0.02, n)}\n{prose(80 + n, 2)}" for n in range(4)]
    others = [f"{prose(2)}\n{table(20, 2)}", f"{prose(2)}\n{table(20, 2)} twice", f"{prose(3)}\n{table(0, 5)}"]
    texts = [copies[0], others[0], copies[1], others[2], copies[2], others[1], copies[3], copies[0]]
    return [read(text, f"Source {n}") for n, text in enumerate(texts)]


def pipeline(store: Store) -> Pipeline:
    async def fetch(url: str) -> FetchedPage:
        raise FetchFailed("http_404", "Gone.")

    async def read_again(page: Page) -> ReadPage:
        return read_page(page)

    return Pipeline(fetch, read_again, store, Clock())


async def state(store: Store, articles: Sequence[Article]) -> dict[str, object]:
    """What readers see of them."""
    stored = [await store.articles.get(article.id) for article in articles]
    iocs = (await store.iocs.find(IocQuery(limit=50))).items
    return {
        "articles": stored,
        "counts": {ioc.value: (ioc.sightings, ioc.sources) for ioc in iocs},
        "revisions": [await Revisions(store).get(article, 1) for article in stored if article],
        "addresses": await store.articles.ids_of([band for page in reports() for band in page.bands]),
    }


@pytest.mark.slow
@pytest.mark.promise("promises.idempotent", "articles.near-copies-same-cluster")
async def test_together_is_as_one_after_the_other(stores: tuple[Store, Store], tmp_path: Path) -> None:
    alone = SqliteStore(lay_store(tmp_path / "alone.db"))
    await alone.setup()
    try:
        one_by_one = [await pipeline(alone).take_read(page) for page in reports()]
        together = await pipeline(stores[0]).take_many(reports())
        assert list(together) == one_by_one
        assert len({article.cluster_id for article in together}) == 3
        assert await state(stores[1], together) == await state(alone, one_by_one)
    finally:
        await alone.close()


@pytest.mark.slow
@pytest.mark.promise("promises.idempotent")
async def test_taken_in_again_together_nothing_changes(stores: tuple[Store, Store]) -> None:
    first = await pipeline(stores[0]).take_many(reports())
    before = await state(stores[0], first)
    assert await pipeline(stores[1]).take_many(reports()) == first
    assert await state(stores[0], first) == before


@pytest.mark.promise("articles.near-copies-same-cluster")
async def test_two_processes_at_once_find_the_same_clusters(stores: tuple[Store, Store]) -> None:
    pages = reports()
    portions = [pages[:3], pages[3:6], pages[6:], pages[1:4]]
    taken = await asyncio.gather(
        *(pipeline(stores[n % 2]).take_many(portion) for n, portion in enumerate(portions)),
    )
    stored = await stores[0].articles.get_many([article.id for articles in taken for article in articles])
    assert len({article.cluster_id for article in stored.values()}) == 3
    counts = {ioc.value: ioc.sources for ioc in (await stores[1].iocs.find(IocQuery(limit=50))).items}
    assert counts["evil-kestrel.org"] == 1
