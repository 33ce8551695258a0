"""Stored articles read again with today's rules, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from ingest.assembly import open_ingest
from ingest.pipeline import Pipeline
from ingest.reading import ReadPage
from ingest.rereading import Reread, Rereading
from ingest.revisions import Revisions
from ingest.sharing_changes import change_sharing
from intel.records import Article, Sighting
from intel.settings import load_settings
from intel.store import Store
from intel.tlp import Tlp
from tests.one_fork_server import one_fork_server

pytestmark = pytest.mark.slow

TEXT = """A report

The loader fetched its orders from evil-loader[.]top and second-stage[.]top. It was kept on github.com.
"""
MARKUP = Sighting("url", "https://in-a-link.example/x", "", (), 0)
DROPPED = Sighting("domain", "github.com", "It was kept on github.com.", (), 1)


@pytest.fixture(scope="module", autouse=True)
def readers() -> Iterator[None]:
    """What each ingest of these tests forks its readers from."""
    with one_fork_server():
        yield


async def reread(store: Store, **options: object) -> list[Reread]:
    ingest = open_ingest(load_settings({}), store)
    try:
        rereading = Rereading(store, ingest.pipeline, ingest.isolation, 1_000)
        return [one async for one in replace(rereading, **options).all(None, 0)]  # type: ignore[arg-type]
    finally:
        await ingest.close()


async def taken_in(store: Store) -> Article:
    """An article as earlier rules read it: one indicator short, and with two that today's rules do not find."""
    ingest = open_ingest(load_settings({}), store)
    try:
        article = await ingest.pipeline.take_file(TEXT.encode(), "text/plain", "A")
    finally:
        await ingest.close()
    found = await store.articles.sightings_of(article.id)
    earlier = [MARKUP, DROPPED, replace(found[0], position=2)]
    reading = await store.readings.get(article.id, 1)
    assert reading is not None
    await store.readings.put(replace(reading, iocs=tuple((one.type, one.value) for one in earlier)))
    return await store.articles.save(article, earlier, [])


async def values(store: Store, article: Article) -> list[str]:
    return [one.value for one in await store.articles.sightings_of(article.id)]


@pytest.mark.promise("operations.reread")
async def test_what_todays_rules_find_and_drop_is_a_new_revision(stores: tuple[Store, Store]) -> None:
    store, _ = stores
    article = await taken_in(store)
    (dry,) = await reread(store, dry_run=True)
    assert await values(store, article) == [MARKUP.value, DROPPED.value, "evil-loader.top"]
    (done,) = await reread(store)
    assert (
        (dry.added, dry.vanished)
        == (done.added, done.vanished)
        == (
            (("domain", "second-stage.top"),),
            (("domain", "github.com"),),
        )
    )
    assert await values(store, article) == [MARKUP.value, "evil-loader.top", "second-stage.top"]
    again = await store.articles.get(article.id)
    assert again is not None
    assert (again.revision, again.title, again.fetched_at) == (2, article.title, article.fetched_at)
    assert [one.value for one in await Revisions(store).vanished(again)] == ["github.com"]
    (unchanged,) = await reread(store)
    assert not unchanged.changed
    assert not await reread(store, source="another")


async def test_an_article_whose_contexts_alone_change_counts_as_changed(stores: tuple[Store, Store]) -> None:
    store, _ = stores
    article = await taken_in(store)
    await reread(store)
    found = await store.articles.sightings_of(article.id)
    last = found[-1]
    again = await store.articles.get(article.id)
    assert again is not None
    await store.articles.save(again, [*found[:-1], replace(last, context="What earlier rules took.")], [])
    (dry,) = await reread(store, dry_run=True)
    assert dry.changed and (dry.added, dry.vanished, dry.revised) == ((), (), ((last.type, last.value),))
    await reread(store)
    assert [one.context for one in await store.articles.sightings_of(article.id)][-1] == last.context


@pytest.mark.promise("tlp.kept")
@pytest.mark.parametrize(("before", "after"), [("amber", "clear"), ("amber", None), (None, "amber")])
async def test_a_level_that_is_changed_while_an_article_is_read_again_stands(
    stores: tuple[Store, Store], before: Tlp | None, after: Tlp | None
) -> None:
    store, _ = stores
    article = await taken_in(store)
    await change_sharing(store, article.id, before)
    ingest = open_ingest(load_settings({}), store)
    try:
        rereading = Rereading(store, MarkedMeanwhile(ingest.pipeline, article.id, after), ingest.isolation, 1_000)  # type: ignore[arg-type]  # a pipeline before which something happens
        assert [one.changed async for one in rereading.all(None, 0)] == [True]
    finally:
        await ingest.close()
    again = await store.articles.get(article.id)
    assert again is not None and (again.tlp, again.revision) == (after, 2)


@dataclass
class MarkedMeanwhile:
    """A pipeline whose article gets another level just before what was read of it is taken in."""

    pipeline: Pipeline
    id: str
    tlp: Tlp | None

    async def take_read(self, found: ReadPage) -> Article:
        await change_sharing(self.pipeline.store, self.id, self.tlp)
        return await self.pipeline.take_read(found)
