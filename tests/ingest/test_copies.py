"""Copies count as one source on both engines, in whatever order and however many at once they come in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from ingest.batch import Batch
from ingest.copies import ComparedOnce
from ingest.fetch import FetchedPage
from ingest.near_duplicates import copies_among
from ingest.pipeline import Pipeline
from ingest.reading import Page, ReadPage, read_page
from intel.query import IocQuery
from intel.records import Article
from intel.store import Store
from intel.store.port import Articles
from tests.api.running import Clock
from tests.ingest.writing import prose, reworded, table

pytestmark = pytest.mark.timeout(900)

ORIGINAL = f"{prose(1)} It called evil-kestrel[.]org at night.\n\n{table(0, 3)}"


def pipeline(store: Store, texts: dict[str, str]) -> Pipeline:
    """Takes in the given texts by their address."""

    async def fetch(url: str) -> FetchedPage:
        await asyncio.sleep(0)
        return FetchedPage(url, url, 200, "text/plain", "utf-8", texts[url].encode(), {})

    async def read(page: Page) -> ReadPage:
        return read_page(page)

    return Pipeline(fetch, read, store, Clock())


async def test_no_two_texts_are_compared_twice_in_a_step() -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    async def compare(text: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        asked.append((text, tuple(others)))
        return copies_among(text, others)

    once = ComparedOnce(compare)
    first = await once(ORIGINAL, {"copy": ORIGINAL, "other": prose(2)})
    assert set(first) == {"copy"} and await once(ORIGINAL, {"again": ORIGINAL, "other": prose(2)}) == {
        "again": first["copy"]
    }
    assert asked == [(ORIGINAL, ("copy", "other"))]


class Told:
    """The articles of a store, and whose texts it was asked for."""

    def __init__(self, articles: Articles) -> None:
        self.ids_of, self.get = articles.ids_of, articles.get
        self._articles = articles
        self.asked: list[list[str]] = []

    async def texts(self, ids: Sequence[str]) -> dict[str, str]:
        self.asked.append([*ids])
        return await self._articles.texts(ids)


async def test_a_stored_text_is_read_once_in_a_step(stores: tuple[Store, Store]) -> None:
    (known,) = await taken([pipeline(stores[0], copies(1))], copies(1))
    told = Told(stores[0].articles)
    batch = await Batch.begin(told, [])
    first = await batch.texts([known.id, "absent"])
    assert first == await batch.again({}).texts([known.id]) == {known.id: known.text}
    assert await batch.again({"late": known}).texts(["late", known.id]) == {"late": known.text, known.id: known.text}
    assert told.asked == [[known.id, "absent"]]


async def sources(store: Store) -> dict[str, tuple[int, int]]:
    """By value: how many articles and independent sources name it."""
    page = await store.iocs.find(IocQuery(limit=50))
    return {ioc.value: (ioc.sightings, ioc.sources) for ioc in page.items}


async def taken(pipelines: Sequence[Pipeline], texts: dict[str, str]) -> list[Article]:
    """Takes all of them in at once, by turns in each pipeline."""
    urls = list(texts)
    taking = (pipelines[n % len(pipelines)].take_url(url, f"Source {n}") for n, url in enumerate(urls))
    return await asyncio.gather(*taking)


def copies(count: int, seed: int = 1) -> dict[str, str]:
    """Each with words of its own before and after, and a few that were changed."""

    def copy(n: int) -> str:
        return f"{prose(50 + n, 3)}\n{reworded(ORIGINAL, 0.02, seed + n)}\n{prose(80 + n, 2)}"

    return {f"https://news{n}.example/report": copy(n) for n in range(count)}


@pytest.mark.slow
@pytest.mark.promise("articles.near-copies-same-cluster", "records.sources-independent")
async def test_copies_one_after_another_count_once(stores: tuple[Store, Store]) -> None:
    texts = copies(4)
    taking = pipeline(stores[0], texts)
    articles = [await taking.take_url(url, f"Source {n}") for n, url in enumerate(texts)]
    assert len({article.cluster_id for article in articles}) == 1
    assert (await sources(stores[0]))["evil-kestrel.org"] == (4, 1)


@pytest.mark.promise("articles.near-copies-same-cluster", "records.sources-independent")
async def test_reports_that_share_indicators_count_for_themselves(stores: tuple[Store, Store]) -> None:
    texts = {
        "https://a.example/1": ORIGINAL,
        "https://b.example/2": f"{prose(2)} It called evil-kestrel[.]org at night.\n\n{table(0, 3)}",
        "https://c.example/3": f"{prose(3)}\n\n{prose(1)[:400]}\n\n{table(0, 3)} evil-kestrel[.]org",
    }
    taking = pipeline(stores[0], texts)
    articles = [await taking.take_url(url, url[8]) for url in texts]
    assert len({article.cluster_id for article in articles}) == 3
    assert (await sources(stores[0]))["evil-kestrel.org"] == (3, 3)


@pytest.mark.slow
@pytest.mark.promise("articles.near-copies-same-cluster", "promises.idempotent")
@pytest.mark.parametrize("seed", range(3))
async def test_copies_that_come_at_once_count_once(stores: tuple[Store, Store], seed: int) -> None:
    texts = copies(8, seed * 100)
    pipelines = [pipeline(store, texts) for store in stores]
    articles = await taken(pipelines, texts)
    assert len({article.cluster_id for article in articles}) == 1
    stored = [await stores[1].articles.get(article.id) for article in articles]
    assert {article.cluster_id for article in stored if article} == {articles[0].cluster_id}
    assert (await sources(stores[0]))["evil-kestrel.org"] == (8, 1)
    later = {"https://late.example/report": reworded(ORIGINAL, 0.02, 999)}
    (late,) = await taken([pipeline(stores[1], later)], later)
    assert late.cluster_id == articles[0].cluster_id
    again = await taken(pipelines, texts)
    assert [article.cluster_id for article in again] == [article.cluster_id for article in articles]
    assert (await sources(stores[0]))["evil-kestrel.org"] == (9, 1)


async def test_a_copy_that_is_corrected_stays_and_one_that_is_replaced_leaves(stores: tuple[Store, Store]) -> None:
    texts = copies(3)
    taking = pipeline(stores[0], texts)
    articles = [await taking.take_url(url, f"Source {n}") for n, url in enumerate(texts)]
    first = next(iter(texts))
    texts[first] += "\n\nUpdate: the operators are back with other-kestrel[.]org since Monday."
    corrected = await taking.take_url(first, "Source 0")
    assert (corrected.revision, corrected.cluster_id) == (2, articles[0].cluster_id)
    texts[first] = f"{prose(77)} It called evil-kestrel[.]org at night."
    replaced = await taking.take_url(first, "Source 0")
    assert (replaced.revision, replaced.cluster_id != articles[0].cluster_id) == (3, True)
    assert (await sources(stores[0]))["evil-kestrel.org"] == (3, 2)
