"""Removing an article: what is left is what a store holds that never saw it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import pytest_asyncio

from intel.query import ArticleQuery, parse_search
from intel.records import REMOVED, Article, Reading, SeenIoc, Submission, Vote, Week
from intel.store.port import Store
from intel.store.sqlite.store import SqliteStore
from intel.store.taking_back import TAKEN_BACK
from tests.contract.store.builders import (
    hour,
    id_of,
    listed,
    make_article,
    make_submission,
    publish,
    query,
    search,
    the_ioc,
)
from tests.contract.store.corpus import HOSTS, SOURCES, Saved, make_corpus
from tests.contract.store.oracle import Oracle
from tests.stores import lay_store

pytestmark = pytest.mark.timeout(900)

IOC_QUERIES = (
    *(query(q, limit=1000) for q in (None, *HOSTS, "evil", "loader", "emotet", "198.51.100.0/24", "blog", "ev*")),
    *(query(None, limit=1000, source=source) for source in SOURCES),
    *(query(None, limit=1000, type=type, since=hour(10)) for type in ("ip", "email", "domain", "malware")),
)
ARTICLE_QUERIES = (
    *(ArticleQuery(parse_search(q), limit=1000) for q in ("evil", "loader", "emotet", "分析")),
    *(ArticleQuery(None, source, limit=1000) for source in (None, *SOURCES)),
)


@pytest_asyncio.fixture
async def untouched(tmp_path: Path) -> AsyncIterator[Store]:
    """A store that nothing was ever removed from."""
    opened = SqliteStore(lay_store(tmp_path / "untouched" / "store.db"))
    await opened.setup()
    yield opened
    await opened.close()


def addresses_of(article: Article) -> list[str]:
    """Its own address and some that it shares with others."""
    shared = sum(map(ord, article.id)) % 7
    return [article.url or "", f"near:00:{shared}", f"near:01:{shared % 3}"]


async def save(store: Store, saved: Saved) -> None:
    await store.articles.save(saved.article, saved.sightings, addresses_of(saved.article))


async def sighted(store: Store) -> list[SeenIoc]:
    return [one async for one in store.articles.seen_between(hour(-5_000), hour(5_000))]


async def assert_holds(store: Store, saves: list[Saved]) -> None:
    """The store answers everything as the rules say of these saves alone."""
    oracle = Oracle(saves)
    for asked in IOC_QUERIES:
        page, expected = await store.iocs.find(asked), oracle.iocs(asked)
        assert (page.items, page.total) == (expected, len(expected)), asked
        assert await store.iocs.facets(asked) == oracle.facets(asked), asked
    for article_query in ARTICLE_QUERIES:
        found = await store.articles.find(article_query)
        assert tuple(article.id for article in found.items) == oracle.articles(article_query), article_query


async def test_nothing_of_a_removed_article_is_left(store: Store, other_store: Store) -> None:
    gone = await publish(store, make_article("gone", title="Poisoned"), "domain only.example", "domain both.example")
    kept = await publish(store, make_article("kept", at=-5), "domain both.example")
    await store.readings.put(Reading(gone.id, 1, hour(0), "Poisoned", (), "text", ()))
    for indicator in ("domain only.example", "domain both.example"):
        await store.votes.put(Vote(id_of(indicator), "account-1", "", hour(1)))
    assert await other_store.articles.remove(gone.id)
    assert await store.articles.get(gone.id) is None
    assert await store.articles.id_of(gone.url or "") is None
    assert (await store.articles.texts([gone.id]), await store.readings.of(gone.id)) == ({}, ())
    assert (await listed(store), await search(store, "poisoned")) == (["both.example"], [])
    left = await the_ioc(store, "domain both.example")
    assert (left.sightings, left.sources, left.last_seen, left.article) == (1, 1, kept.seen_at, kept.ref)
    assert await store.votes.counts([id_of("domain only.example"), left.id]) == {left.id: 1}
    totals = await store.totals()
    assert (totals.articles, totals.iocs, totals.newest_article) == (1, 1, kept.seen_at)
    assert {one.article_id for one in await sighted(store)} == {kept.id}


@pytest.mark.promise("remove.exact")
async def test_weeks_that_were_told_while_an_article_was_there_are_taken_back_with_it(store: Store) -> None:
    came, told = hour(2), [hour(0), hour(3)]
    await publish(store, replace(make_article("kept"), fetched_at=hour(1)), "domain both.example")
    gone = await publish(store, replace(make_article("gone"), fetched_at=came), "domain both.example")
    for revision, generated_at in enumerate(told, start=1):
        assert await store.weeks.add(Week("2026-W47", revision, "basis", generated_at, {"said": revision}))
    # It is saved anew later on, which does not make it any newer.
    await publish(store, replace(gone, title="Poisoned"), "domain both.example")
    assert await store.articles.remove(gone.id)
    assert await store.weeks.bases("2026-W47") == {2: TAKEN_BACK, 1: "basis"}
    newest = await store.weeks.get("2026-W47")
    assert newest is not None and newest.body == {}


async def test_an_unknown_article_cannot_be_removed_nor_one_a_second_time(store: Store) -> None:
    assert not await store.articles.remove("unknown")
    article = await publish(store, make_article(), "domain evil.example")
    assert await store.articles.remove(article.id)
    assert not await store.articles.remove(article.id)
    await store.articles.finish_removals()
    again = await publish(store, make_article(), "domain evil.example")
    assert (await store.articles.get(again.id), (await the_ioc(store, "domain evil.example")).sightings) == (again, 1)


async def test_the_next_copy_gives_the_source_where_the_earliest_is_removed(store: Store) -> None:
    first = await publish(store, make_article("a", at=1, source="Agency", cluster="one"), "domain other.example")
    for n, name in enumerate(("b", "c"), start=2):
        copy = make_article(name, at=n, source=f"Paper {name}", cluster="one")
        await publish(store, copy, "domain evil.example")
    await publish(store, make_article("x", source="Agency", cluster="two"), "domain evil.example")
    assert (await the_ioc(store, "domain evil.example")).sources == 1
    assert await store.articles.remove(first.id)
    assert (await the_ioc(store, "domain evil.example")).sources == 2
    assert {one.counted_source for one in await sighted(store)} == {"Agency", "Paper b"}


async def test_an_address_leads_to_the_next_article_that_claimed_it(store: Store) -> None:
    articles = [make_article(f"a{n}", at=n) for n in range(4)]
    for article in articles:
        await store.articles.save(article, [], ["near:one", article.url or ""])
    for article, following in zip(articles, [*articles[1:], None], strict=True):
        assert await store.articles.id_of("near:one") == article.id
        await store.articles.remove(article.id)
        assert await store.articles.id_of("near:one") == (following.id if following else None)
    assert await store.articles.id_of(articles[2].url or "") is None


async def test_what_articles_come_to_differs_after_a_removal_whatever_is_added(store: Store) -> None:
    seen = {await basis(store)}
    for n in range(4):
        await publish(store, make_article(f"a{n}", at=n), "domain evil.example")
        seen.add(await basis(store))
    for number in (1, 3, 0):
        await store.articles.remove(make_article(f"a{number}").id)
        seen.add(await basis(store))
        await publish(store, make_article(f"b{number}", at=number), "domain evil.example")
        seen.add(await basis(store))
    assert len(seen) == 11


async def basis(store: Store) -> str:
    return await store.articles.basis(hour(-100), hour(100))


@pytest.mark.slow
@pytest.mark.promise("remove.exact")
async def test_after_removals_every_answer_is_that_of_a_store_with_the_rest_alone(
    store: Store, untouched: Store
) -> None:
    saves = make_corpus(40)
    for saved in saves:
        await save(store, saved)
    ids = sorted({saved.article.id for saved in saves})
    gone = set(Random(7).sample(ids, len(ids) // 2))
    for id in sorted(gone):
        assert await store.articles.remove(id)
    left = [saved for saved in saves if saved.article.id not in gone]
    for saved in left:
        await save(untouched, saved)
    await assert_holds(store, left)
    assert await sighted(store) == await sighted(untouched)
    for saved in saves:
        for address in addresses_of(saved.article):
            assert await store.articles.id_of(address) == await untouched.articles.id_of(address), address
    assert await store.articles.weeks() == await untouched.articles.weeks()
    now, then = await store.totals(), await untouched.totals()
    assert now == then


@pytest.mark.slow
@pytest.mark.promise("remove.concurrent")
async def test_saves_and_removals_at_once_end_exact(store: Store, other_store: Store) -> None:
    saves = {saved.article.id: saved for saved in make_corpus(36)}
    before, later = list(saves.values())[:18], list(saves.values())[18:]
    for saved in before:
        await save(store, saved)
    gone, again = before[:9], before[9:12]
    gate = asyncio.Semaphore(8)

    async def removed(one: Store, saved: Saved) -> None:
        async with gate:
            await one.articles.remove(saved.article.id)

    async def put(one: Store, saved: Saved) -> None:
        async with gate:
            await save(one, saved)

    work = [removed(one, saved) for saved in gone for one in (store, other_store)]
    work += [put((store, other_store)[n % 2], saved) for n, saved in enumerate([*later, *again])]
    Random(3).shuffle(work)
    await asyncio.gather(*work)
    await assert_holds(store, [*before[9:], *later])


async def test_an_article_that_is_saved_and_removed_at_once_is_there_whole_or_not_at_all(
    store: Store, other_store: Store
) -> None:
    article = make_article("report")
    await publish(store, make_article("mate", at=-3), "domain evil.example")
    for _ in range(4):
        saving = [publish(one, article, "domain evil.example", "domain own.example") for one in (store, other_store)]
        removing = [one.articles.remove(article.id) for one in (store, other_store)]
        await asyncio.gather(*saving, *removing)
        there = await store.articles.get(article.id) is not None
        assert (await the_ioc(store, "domain evil.example")).sightings == 1 + there
        assert (await store.iocs.get(id_of("domain own.example")) is not None) == there


async def submitted(store: Store, submission: Submission, **end: object) -> Submission:
    """The submission, stored and ended."""
    await store.submissions.add(submission)
    claimed = await store.submissions.claim(submission.id, hour(1), hour(2))
    assert claimed is not None
    done = replace(claimed, status="done", finished_at=hour(1), **end)  # type: ignore[arg-type]
    assert await store.submissions.update(done)
    return done


async def test_submissions_say_that_their_article_was_removed_and_may_be_made_again(store: Store) -> None:
    article = await publish(store, make_article(), "domain evil.example")
    done = await submitted(store, make_submission(), article_id=article.id, ioc_count=1, ioc_dropped=0)
    other = await submitted(store, replace(make_submission("two"), account_id="two"), article_id=article.id)
    again = replace(make_submission("three"), account_id="three", again=True)
    await submitted(store, again, article_id=article.id)
    assert await store.submissions.submitters(article.id) == {"account-1", "two"}
    assert await store.submissions.add(make_submission()) == done
    await store.articles.remove(article.id)
    told = await store.submissions.get(done.id)
    assert told == replace(done, article_id=None, ioc_count=None, ioc_dropped=None, reason="removed", detail=REMOVED)
    assert await store.submissions.submitters(article.id) == set()
    anew = replace(make_submission(), created_at=hour(5), due_at=hour(5))
    assert await store.submissions.add(anew) == anew
    assert (await store.submissions.get(other.id) or other).article_id is None


async def test_the_submissions_of_an_account_are_all_told_and_removed_unless_they_changed(store: Store) -> None:
    mine = [await store.submissions.add(make_submission(f"n{n}")) for n in range(5)]
    await store.submissions.add(replace(make_submission("other"), account_id="account-2"))
    found = [one async for one in store.submissions.all_of("account-1")]
    assert sorted(one.id for one in found) == sorted(one.id for one in mine)
    assert await store.submissions.claim(mine[0].id, hour(1), hour(2)) is not None
    assert [await store.submissions.remove(one) for one in mine] == [False, True, True, True, True]
    assert [one.id async for one in store.submissions.all_of("account-1")] == [mine[0].id]
