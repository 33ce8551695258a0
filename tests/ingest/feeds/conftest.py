"""One follower of feeds, on a real store and a web on loopback, with a clock that a test turns."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest_asyncio

from ingest.feed_lists import ListedFeed, new_feed
from ingest.isolated import Isolation
from ingest.polling import Polled, Polling, open_polling
from ingest.submitting import Submitting
from intel.records import Feed, Submission
from intel.store import Store
from intel.store.sqlite.store import SqliteStore
from tests.api.running import Clock
from tests.ingest.feeds.publishing import rss
from tests.ingest.fetch.asking import LOOPBACK
from tests.ingest.fetch.web import Web, open_web
from tests.stores import lay_store


@dataclass
class Noted:
    """A queue that only notes what it was told."""

    told: list[Submission] = field(default_factory=list)

    async def enqueue(self, *submissions: Submission) -> None:
        self.told.extend(submissions)

    async def close(self) -> None:
        return


@dataclass
class Follower:
    """What polls, and what it leads to."""

    web: Web
    store: Store
    queue: Noted
    clock: Clock
    polling: Polling
    feed: Feed

    def announce(self, *names: str, head: str = "", headers: tuple[str, ...] = ()) -> None:
        """The feed announces the pages with these names from now on."""
        links = [name if "://" in name else self.web.url(f"/{name}") for name in names]
        self.web.page("/feed", rss(links, head), *headers, kind="application/rss+xml")

    async def poll(self) -> Polled:
        """Lets time pass to when the feed is due and has it polled."""
        now = await self.store.feeds.get(self.feed.id)
        assert now is not None
        self.clock.now = max(self.clock.now, now.next_poll_at, now.lease_ends_at or now.next_poll_at)
        polled = await self.polling.poll(self.feed.id)
        assert polled is not None
        return polled

    async def submitted(self, polled: Polled) -> list[Submission]:
        found = [await self.store.submissions.get(id) for id in polled.submissions]
        return [one for one in found if one is not None]

    def asked(self, path: str) -> list[bytes]:
        """The heads of the requests for this path."""
        return [head for head in self.web.requests if head.startswith(f"GET {path} ".encode())]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def isolation() -> AsyncIterator[Isolation]:
    isolated = Isolation(at_once=16, preload=["ingest.feeds", "ingest.robots"])
    isolated.start()
    yield isolated
    await isolated.close()


@pytest_asyncio.fixture
async def follower(tmp_path: Path, isolation: Isolation) -> AsyncIterator[Follower]:
    """Follows `/feed` of an empty web."""
    store, queue, clock = SqliteStore(lay_store(tmp_path / "store.db")), Noted(), Clock()
    await store.setup()
    submitting = Submitting(store, queue, LOOPBACK, clock)
    polling = open_polling(store, submitting, isolation, LOOPBACK, clock)
    async with open_web() as web:
        feed = new_feed(ListedFeed(web.url("/feed"), "News"), LOOPBACK, clock())
        await store.feeds.add(feed)
        yield Follower(web, store, queue, clock, polling, feed)
    await store.close()
