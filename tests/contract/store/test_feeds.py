"""Feeds are kept whole, changed by whoever read them last, and polled by one at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from intel.ids import feed_id
from intel.records import Feed
from intel.store.port import Store
from tests.contract.store.builders import hour


def make_feed(name: str = "one", *, due: float = 0, enabled: bool = True) -> Feed:
    """The feed at `https://{name}.example/feed`, due so many hours after Monday morning."""
    url = f"https://{name}.example/feed"
    return Feed(feed_id(url), url, name, created_at=hour(0), next_poll_at=hour(due), enabled=enabled)


async def kept(store: Store, feed: Feed) -> Feed:
    """The feed as it is in the store."""
    found = await store.feeds.get(feed.id)
    assert found is not None
    return found


async def test_a_feed_is_read_back_whole(store: Store, other_store: Store) -> None:
    feed = replace(
        make_feed(),
        name="Ümlaut \N{GRINNING FACE} <b>",
        interval_seconds=900,
        etag='W/"abc"',
        last_modified="Fri, 20 Nov 2026 09:00:00 GMT",
        lease_ends_at=hour(1.5),
        last_polled_at=hour(1),
        last_success_at=hour(0.5),
        failures=3,
        last_error="The site answered 503 (Service Unavailable).",
        ended_at=hour(9),
    )
    assert await store.feeds.add(feed)
    assert await other_store.feeds.get(feed.id) == feed
    assert await store.feeds.get("unknown") is None


async def test_a_known_feed_is_kept(store: Store) -> None:
    feed = make_feed()
    assert await store.feeds.add(feed)
    assert not await store.feeds.add(replace(feed, name="other"))
    assert await store.feeds.get(feed.id) == feed


async def test_feeds_are_listed_by_name_then_id(store: Store) -> None:
    feeds = [replace(make_feed(str(n)), name=name) for n, name in enumerate(("b", "a", "ä", "B", "a", "ﬀ", "😀"))]
    for feed in feeds:
        await store.feeds.add(feed)
    assert list(await store.feeds.all()) == sorted(feeds, key=lambda feed: (feed.name, feed.id))


async def test_an_update_is_returned_with_its_next_revision(store: Store, other_store: Store) -> None:
    await store.feeds.add(make_feed())
    changed = await store.feeds.update(replace(make_feed(), enabled=False, etag='"1"'))
    assert changed == replace(make_feed(), enabled=False, etag='"1"', revision=1)
    assert await other_store.feeds.get(changed.id) == changed
    assert await other_store.feeds.all() == (changed,)


async def test_whoever_read_an_older_revision_writes_nothing(store: Store) -> None:
    await store.feeds.add(make_feed())
    changed = await store.feeds.update(replace(make_feed(), name="changed"))
    assert await store.feeds.update(replace(make_feed(), name="late")) is None
    assert await kept(store, make_feed()) == changed


async def test_a_removed_feed_is_gone_and_stays_gone(store: Store) -> None:
    await store.feeds.add(make_feed())
    claimed = await store.feeds.claim(make_feed().id, hour(1), hour(2))
    assert claimed is not None
    assert await store.feeds.remove(claimed.id)
    assert not await store.feeds.remove(claimed.id)
    assert await store.feeds.update(claimed) is None
    assert await store.feeds.get(claimed.id) is None
    assert await store.feeds.all() == await store.feeds.due(hour(9), 10) == ()
    assert await store.feeds.add(make_feed())


async def test_a_claim_takes_a_feed_that_is_due(store: Store) -> None:
    feed = make_feed(due=1)
    await store.feeds.add(feed)
    assert await store.feeds.claim(feed.id, hour(0.999), hour(2)) is None
    claimed = await store.feeds.claim(feed.id, hour(1), hour(2))
    assert claimed == replace(feed, lease_ends_at=hour(2), revision=1)
    assert await kept(store, feed) == claimed
    assert await store.feeds.claim("unknown", hour(1), hour(2)) is None


async def test_a_claim_whose_lease_ended_is_taken_over(store: Store) -> None:
    await store.feeds.add(make_feed())
    first = await store.feeds.claim(make_feed().id, hour(1), hour(2))
    assert await store.feeds.claim(make_feed().id, hour(1.999), hour(3)) is None
    second = await store.feeds.claim(make_feed().id, hour(2), hour(3))
    assert first is not None and second is not None
    assert await store.feeds.update(replace(first, etag='"late"')) is None
    assert await store.feeds.update(replace(second, lease_ends_at=None, next_poll_at=hour(5))) is not None


@pytest.mark.parametrize("change", [{"enabled": False}, {"ended_at": hour(0)}])
async def test_what_is_switched_off_or_ended_is_never_due(store: Store, change: dict[str, object]) -> None:
    feed = replace(make_feed(), **change)  # type: ignore[arg-type]  # each is a member with its own type
    await store.feeds.add(feed)
    assert await store.feeds.due(hour(9), 10) == ()
    assert await store.feeds.claim(feed.id, hour(9), hour(10)) is None


async def test_what_is_due_comes_longest_due_first(store: Store) -> None:
    for name, due in (("c", 3), ("a", 1), ("b", 2), ("later", 9), ("leased", 1.5)):
        await store.feeds.add(make_feed(name, due=due))
    claimed = await store.feeds.claim(make_feed("leased").id, hour(2), hour(3.001))
    assert claimed is not None
    assert [feed.name for feed in await store.feeds.due(hour(3), 10)] == ["a", "b", "c"]
    assert [feed.name for feed in await store.feeds.due(hour(3), 1)] == ["a"]
    assert [feed.name for feed in await store.feeds.due(hour(4), 10)] == ["a", "leased", "b", "c"]
    assert await store.feeds.due(hour(0.5), 10) == ()


async def test_of_many_claims_at_once_exactly_one_succeeds(store: Store, other_store: Store) -> None:
    await store.feeds.add(make_feed())
    stores = (store, other_store)
    claims = (stores[n % 2].feeds.claim(make_feed().id, hour(1), hour(2)) for n in range(20))
    claimed = [one for one in await asyncio.gather(*claims) if one is not None]
    assert [one.revision for one in claimed] == [1]


async def test_of_many_updates_at_once_exactly_one_succeeds(store: Store, other_store: Store) -> None:
    await store.feeds.add(make_feed())
    stores = (store, other_store)
    updates = (stores[n % 2].feeds.update(replace(make_feed(), name=f"n{n}")) for n in range(20))
    written = [one for one in await asyncio.gather(*updates) if one is not None]
    assert written == [await kept(store, make_feed())]
