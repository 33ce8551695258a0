"""The change feed: who follows it misses nothing and is told nothing twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from intel.errors import InvalidQuery
from intel.query import ChangePosition, ChangeQuery, IocFilter
from intel.records import Article, Change, Ioc, Vote
from intel.store.port import Entry, Store
from intel.times import utc_now
from tests.contract.store.builders import (
    hour,
    id_of,
    iocs_in,
    listed,
    make_article,
    publish,
    query,
    search,
    seen,
    the_ioc,
)
from tests.contract.store.conftest import Open

START = ChangePosition()


@dataclass(slots=True)
class Follower:
    """Follows the feed and holds what it was told to all that the port promises."""

    store: Store
    position: ChangePosition = START
    known: dict[str, Ioc | None] = field(default_factory=dict)
    told: list[Change] = field(default_factory=list)

    async def poll(self, limit: int = 100) -> bool:
        """Takes one page; whether there is more."""
        page = await self.store.iocs.changes(ChangeQuery(self.position, limit))
        assert len(page.items) <= limit
        assert page.next.number >= self.position.number
        for change in page.items:
            self._take(change)
        self.position = page.next
        return page.more

    async def catch_up(self, limit: int = 100) -> list[str]:
        """Takes all that there is; each change as `event value`."""
        before = len(self.told)
        while await self.poll(limit):
            pass
        return [f"{change.event} {change.value}" for change in self.told[before:]]

    def _take(self, change: Change) -> None:
        if self.told:
            assert change.at >= self.told[-1].at
        assert (change.event == "removed") == (change.ioc is None)
        if change.ioc is not None:
            assert change.ioc.changed_at == change.at
            assert change.ioc.added_at <= change.at
        if change.id in self.known:
            assert self.known[change.id] != change.ioc or _at(self.known[change.id]) != change.at, change
        self.known[change.id] = change.ioc
        self.told.append(change)


def _at(ioc: Ioc | None) -> datetime | None:
    return None if ioc is None else ioc.changed_at


async def told(store: Store, after: ChangePosition = START, limit: int = 100, **only: Any) -> list[str]:
    """All changes after a position, as `event value`."""
    found, more = [], True
    while more:
        page = await store.iocs.changes(ChangeQuery(after, limit, IocFilter(**only)))
        found += [f"{change.event} {change.value}" for change in page.items]
        after, more = page.next, page.more
    return found


async def test_an_empty_store_has_no_changes(store: Store) -> None:
    page = await store.iocs.changes(ChangeQuery())
    assert (page.items, page.more) == ((), False)


@pytest.mark.promise("changes.feed")
async def test_a_follower_is_told_what_is_added_changed_and_removed(store: Store) -> None:
    follower = Follower(store)
    await publish(store, make_article("a"), "domain a.example", "domain b.example")
    assert sorted(await follower.catch_up()) == ["added a.example", "added b.example"]
    await publish(store, make_article("b", at=1), "domain b.example")
    assert await follower.catch_up() == ["changed b.example"]
    await publish(store, make_article("a", at=2, title="Read again"), "domain b.example")
    assert sorted(await follower.catch_up()) == ["changed b.example", "removed a.example"]
    assert await follower.catch_up() == []
    removed = follower.known[id_of("domain a.example")]
    assert removed is None
    assert follower.known[id_of("domain b.example")] == await the_ioc(store, "domain b.example")


@pytest.mark.promise("changes.feed")
async def test_what_is_removed_and_comes_back_is_added_again(store: Store) -> None:
    follower = Follower(store)
    await publish(store, make_article("a"), "domain a.example")
    await follower.catch_up()
    first = await the_ioc(store, "domain a.example")
    await publish(store, make_article("a"))
    assert await follower.catch_up() == ["removed a.example"]
    assert await told(store) == ["removed a.example"]
    await publish(store, make_article("a", at=2), "domain a.example")
    assert await follower.catch_up() == ["added a.example"]
    assert await told(store) == ["added a.example"]
    assert (await the_ioc(store, "domain a.example")).added_at > first.added_at


@pytest.mark.promise("changes.feed")
async def test_the_removal_of_an_article_is_told(store: Store) -> None:
    await publish(store, make_article("a"), "domain a.example", "domain b.example")
    await publish(store, make_article("b", at=1), "domain b.example")
    follower = Follower(store)
    await follower.catch_up()
    assert await store.articles.remove(make_article("a").id)
    assert sorted(await follower.catch_up()) == ["changed b.example", "removed a.example"]
    assert await follower.catch_up() == []


async def test_what_was_removed_is_nowhere_else(store: Store) -> None:
    await publish(store, make_article("a"), "domain a.example", "ip 192.0.2.1")
    await publish(store, make_article("a"), "ip 192.0.2.1")
    assert (await store.totals()).iocs == 1
    gone = id_of("domain a.example")
    assert await store.iocs.get(gone) is None
    assert set(await store.iocs.get_many([gone, id_of("ip 192.0.2.1")])) == {id_of("ip 192.0.2.1")}
    assert [ioc.value for ioc in await iocs_in(store, make_article("a").id)] == ["192.0.2.1"]


@pytest.mark.promise("changes.feed")
async def test_what_is_only_written_again_is_no_change(store: Store, other_store: Store) -> None:
    follower = Follower(store)
    article = make_article("a")
    await publish(store, article, "domain a.example", "domain b.example")
    await follower.catch_up()
    await publish(store, article, "domain a.example", "domain b.example")
    await publish(other_store, article, "domain a.example", "domain b.example")
    await publish(store, replace(article, text="Another text.", revision=2), "domain a.example", "domain b.example")
    await store.votes.put(Vote(id_of("domain a.example"), "account", "", hour(1)))
    assert await follower.catch_up() == []


async def test_what_one_save_of_many_takes_back_of_another_is_a_change_too(store: Store) -> None:
    for number, name in enumerate(("first", "leaves", "comes", "last")):
        await publish(store, make_article(name, at=number), *(["domain a.example"] if name != "comes" else []))
    before, follower = await the_ioc(store, "domain a.example"), Follower(store)
    await follower.catch_up()
    again = [Entry(make_article("leaves", at=1), []), Entry(make_article("comes", at=2), seen("domain a.example"))]
    await store.articles.save_many(again)
    after = await the_ioc(store, "domain a.example")
    assert after == before
    assert after.changed_at > before.changed_at
    assert await follower.catch_up() == ["changed a.example"]


@pytest.mark.parametrize(
    "again",
    [
        make_article("a", title="Another title"),
        make_article("a", at=1),
        make_article("a", source="Another source"),
    ],
    ids=["title", "time", "source"],
)
async def test_whatever_a_record_says_is_a_change_of_it(store: Store, again: Article) -> None:
    follower = Follower(store)
    await publish(store, make_article("a"), "domain a.example")
    await follower.catch_up()
    added_at = (await the_ioc(store, "domain a.example")).added_at
    await publish(store, again, "domain a.example")
    assert await follower.catch_up() == ["changed a.example"]
    assert (await the_ioc(store, "domain a.example")).added_at == added_at


async def test_a_copy_that_counts_for_another_source_now_changes_what_it_names(store: Store) -> None:
    await publish(store, make_article("other", at=9, source="Paper"), "domain a.example")
    await publish(store, make_article("copy", at=5, source="Copy", cluster="one"), "domain a.example")
    follower = Follower(store)
    await follower.catch_up()
    await publish(store, make_article("original", at=1, source="Paper", cluster="one"), "domain b.example")
    assert sorted(await follower.catch_up()) == ["added b.example", "changed a.example"]
    assert (await the_ioc(store, "domain a.example")).sources == 1


async def test_a_walk_tells_the_same_at_any_pace(store: Store) -> None:
    for n in range(7):
        await publish(store, make_article(f"a{n}", at=n), f"domain d{n}.example", "domain all.example")
    expected = [*(f"added d{n}.example" for n in range(6))]
    for limit in (1, 2, 3, 50):
        found = await told(store, limit=limit)
        assert found[:6] == expected
        assert sorted(found[6:]) == ["added all.example", "added d6.example"]


async def test_indicators_of_one_article_change_in_order_of_their_ids(store: Store) -> None:
    indicators = [f"domain d{n}.example" for n in range(9)]
    await publish(store, make_article("a"), *indicators)
    page = await store.iocs.changes(ChangeQuery())
    assert [change.id for change in page.items] == sorted(map(id_of, indicators))


async def test_types_and_sources_restrict_the_feed(store: Store) -> None:
    await publish(store, make_article("a", source="A"), "domain a.example", "ip 192.0.2.1", "domain gone.example")
    await publish(store, make_article("b", source="B"), "url http://b.example/", "domain b.example")
    await publish(store, make_article("a", source="A"), "domain a.example", "ip 192.0.2.1")
    assert sorted(await told(store, types=("domain",))) == [
        "added a.example",
        "added b.example",
        "removed gone.example",
    ]
    assert sorted(await told(store, types=("ip", "url"))) == ["added 192.0.2.1", "added http://b.example/"]
    found = await told(store, sources=("B",))
    assert sorted(found) == ["added b.example", "added http://b.example/", "removed gone.example"]
    assert await told(store, types=("ip",), sources=("B",)) == []
    page = await store.iocs.changes(ChangeQuery(filter=IocFilter(types=("cve",))))
    assert await told(store, page.next) == []


@pytest.mark.slow
@pytest.mark.promise("changes.moments")
async def test_every_change_has_a_moment_of_its_own_at_which_following_may_begin(store: Store) -> None:
    # More than share a millisecond, and more than share a thousand of numbers.
    await publish(store, make_article("a"), *(f"domain d{n}.example" for n in range(1_100)))
    await publish(store, make_article("a", at=1), *(f"domain d{n}.example" for n in range(1, 900)))
    changes, position, more = list[Change](), START, True
    while more:
        page = await store.iocs.changes(ChangeQuery(position, 1_000))
        changes, position, more = [*changes, *page.items], page.next, page.more
    moments = [change.moment for change in changes]
    assert moments == sorted(set(moments)) and len(moments) == 1_100
    assert [change.number for change in changes] == sorted(change.number for change in changes)
    for place in (0, 1, 200, 201, 500, 1_098):
        after = await store.iocs.position_at(moments[place])
        first = (await store.iocs.changes(ChangeQuery(after, 1))).items[0]
        assert first.number == changes[place + 1].number
        just_before = await store.iocs.position_at(moments[place] - timedelta(microseconds=1))
        assert (await store.iocs.changes(ChangeQuery(just_before, 1))).items[0].number == changes[place].number
    assert await told(store, await store.iocs.position_at(moments[-1])) == []
    assert await told(store, await store.iocs.position_at(moments[-1] + timedelta(days=9))) == []
    assert len(await told(store, await store.iocs.position_at(hour(-99_999)), 1_000)) == 1_100


@pytest.mark.promise("changes.moments")
async def test_the_newest_change_of_an_indicator_is_read_by_its_id(store: Store) -> None:
    await publish(store, make_article("a"), "domain a.example", "domain b.example")
    added = {change.id: change for change in (await store.iocs.changes(ChangeQuery())).items}
    await publish(store, make_article("a", at=1), "domain b.example")
    told_last = {change.id: change for change in (await store.iocs.changes(ChangeQuery())).items}
    ids = [id_of("domain a.example"), id_of("domain b.example"), id_of("domain never.example"), "no id"]
    found = await store.iocs.changes_of(ids)
    assert {id: replace(change, event="changed") for id, change in found.items()} == {
        id: replace(change, event="changed") for id, change in told_last.items()
    }
    gone, kept = found[ids[0]], found[ids[1]]
    assert (gone.event, gone.ioc, gone.added_at) == ("removed", None, added[ids[0]].added_at)
    assert kept.event == "changed" and kept.ioc == await the_ioc(store, "domain b.example")
    assert kept.added_at == added[ids[1]].at < kept.at


async def test_a_position_of_another_store_is_refused(store: Store) -> None:
    with pytest.raises(InvalidQuery):
        await store.iocs.changes(ChangeQuery(ChangePosition(5, 5)))


@pytest.mark.promise("changes.feed")
async def test_rebuilding_tells_nothing_and_keeps_every_position(store: Store) -> None:
    await publish(store, make_article("a"), "domain a.example", "domain b.example")
    await publish(store, make_article("a"), "domain b.example")
    follower = Follower(store)
    await follower.catch_up()
    before = (await store.iocs.changes(ChangeQuery())).items
    await store.reindex(lambda what, done, total: None)
    assert await follower.catch_up() == []
    assert (await store.iocs.changes(ChangeQuery())).items == before
    await publish(store, make_article("b"), "domain a.example")
    assert await follower.catch_up() == ["added a.example"]


@asynccontextmanager
async def opened(open_store: Open, count: int) -> AsyncIterator[list[Store]]:
    stores = [open_store() for _ in range(count)]
    try:
        yield stores
    finally:
        for store in stores:
            await store.close()


async def write(store: Store, writer: int, rounds: int) -> None:
    """Saves articles that share their indicators with those of other writers, and reads some again."""
    chance = random.Random(writer)
    for n in range(rounds):
        indicators = chance.sample([f"domain d{m}.example" for m in range(12)], chance.randrange(5))
        article = make_article(f"w{writer}-{n % 4}", at=chance.randrange(9), title=f"Title {chance.randrange(3)}")
        await publish(store, article, *indicators, f"domain own{writer}-{n % 3}.example")


async def follow(follower: Follower, done: asyncio.Event, seed: int) -> None:
    """Polls at any pace until the writers are done, and then catches up."""
    chance = random.Random(seed)
    while not done.is_set():
        await follower.poll(chance.randrange(1, 20))
        await asyncio.sleep(chance.random() / 10)
    await follower.catch_up(chance.randrange(1, 20))


async def present(store: Store) -> dict[str, Ioc]:
    ids = [id_of(f"domain d{m}.example") for m in range(12)]
    ids += [id_of(f"domain own{writer}-{n}.example") for writer in range(4) for n in range(3)]
    return await store.iocs.get_many(ids)


@pytest.mark.timeout(900)
@pytest.mark.promise("changes.feed", "changes.any-number-of-writers")
async def test_followers_of_four_writers_know_the_newest_state_of_everything(store: Store, open_store: Open) -> None:
    done = asyncio.Event()
    async with opened(open_store, 8) as stores:
        followers = [Follower(one) for one in stores[4:]]
        following = [asyncio.create_task(follow(one, done, seed)) for seed, one in enumerate(followers)]
        await asyncio.gather(*(write(one, writer, 10) for writer, one in enumerate(stores[:4])))
        late = Follower(store)
        await late.catch_up(7)
        done.set()
        await asyncio.gather(*following)
        expected = await present(store)
        for follower in (*followers, late):
            known = {id: ioc for id, ioc in follower.known.items() if ioc is not None}
            assert known == expected
            assert {id: ioc.changed_at for id, ioc in known.items()} == {
                id: ioc.changed_at for id, ioc in expected.items()
            }
            assert await follower.catch_up() == []


async def test_a_record_tells_when_it_was_added_and_changed(store: Store) -> None:
    before = utc_now()
    await publish(store, make_article("a"), "domain a.example")
    between = utc_now()
    await publish(store, make_article("b", at=3), "domain a.example")
    await store.iocs.changes(ChangeQuery())
    found = await the_ioc(store, "domain a.example")
    assert before <= found.added_at <= between <= found.changed_at <= utc_now()


async def test_a_list_may_begin_at_a_moment_of_addition(store: Store) -> None:
    await publish(store, make_article("a", source="A"), "domain a.example", "ip 192.0.2.1")
    await asyncio.sleep(0.01)  # a clock of whole milliseconds
    await publish(store, make_article("b", at=-5, source="A", title="evil"), "domain b.example")
    since = (await the_ioc(store, "domain b.example")).added_at
    assert await listed(store, added_since=since) == ["b.example"]
    assert await listed(store, added_since=since, source="A") == ["b.example"]
    assert await listed(store, added_since=since, type="ip") == []
    assert await search(store, "example", added_since=since) == ["b.example"]
    assert sorted(await listed(store, added_since=hour(-999))) == ["192.0.2.1", "a.example", "b.example"]
    assert (await store.iocs.facets(query(added_since=since))).types == {"domain": 1}
