"""`ioc feeds …`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from api import views
from api.auditing import on_command_line
from api.cli.running import print_json, print_table, progress_bar, say, with_store
from ingest.assembly import fetch_allow, open_ingest
from ingest.feed_lists import ListedFeed, follow_all, new_feed, read_list_file, starter_list
from ingest.fetch import check_url
from ingest.following import change_feed, due_at_once, paused, resumed
from ingest.polling import Polled, Polling, open_polling
from ingest.queue.embedded import EmbeddedQueue
from ingest.queue.port import Queue
from ingest.queue.redis import ArqQueue
from ingest.submitting import Submitting
from ingest.work import sweep
from intel.canonical import canonical_url
from intel.errors import IocError, NotAnIndicator, NotFound, RefusedUrl
from intel.ids import feed_id
from intel.records import Feed
from intel.settings import Settings
from intel.store import Store
from intel.times import rfc3339, utc_now

_LOOK_SECONDS = 0.3
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class PolledNow:
    """What polling one feed came to; `feed` as it is now, None where another process was polling it."""

    url: str
    feed: Feed | None
    submissions: tuple[str, ...] = ()


def add_feed(url: str, name: str | None, *, as_json: bool) -> None:
    """Follow a feed; the running service polls it, or the next one."""

    async def add(store: Store, settings: Settings) -> Feed:
        feed = new_feed(ListedFeed(url, name), fetch_allow(settings), utc_now())
        if not await store.feeds.add(feed):
            raise IocError(f"{feed.url} is followed already; see: ioc feeds list")
        await on_command_line(store).note("feed.added", feed.name, feed.url)
        return feed

    feed = with_store(add)
    if as_json:
        print_json(views.feed(feed) | {"url": feed.url})
    else:
        say(f"following {feed.url} as {feed.name}; the running service polls it, or: ioc feeds poll {feed.url}")


def list_feeds(*, as_json: bool) -> None:
    """List every feed, by name."""

    async def read(store: Store, _: Settings) -> tuple[Feed, ...]:
        return await store.feeds.all()

    feeds = with_store(read, reads=True)
    if as_json:
        print_json({"items": [views.feed(feed) | {"url": feed.url} for feed in feeds]})
        return
    rows = [
        (feed.name, feed.url, views.feed_state(feed), _minutes(feed.last_success_at), feed.last_error or "")
        for feed in feeds
    ]
    print_table("Feeds", ("name", "address", "state", "last success", "last error"), rows)


def remove_feed(url: str) -> None:
    """Stop following a feed; its articles stay, and so do the submissions under way."""

    async def remove(store: Store, settings: Settings) -> None:
        if not await store.feeds.remove(_id_of(url, settings)):
            raise _unknown(url)
        await on_command_line(store).note("feed.removed", url)

    with_store(remove, reads=True)
    say(f"{url} is followed no more")


def switch_feed(url: str, *, on: bool) -> None:
    """Switch a feed on or off; switched on, it is polled at once, and its failures are forgotten."""

    async def switch(store: Store, settings: Settings) -> None:
        change = partial(resumed, now=utc_now()) if on else paused
        feed = await change_feed(store, _id_of(url, settings), change)
        if feed is None:
            raise _unknown(url)
        await on_command_line(store).note("feed.resumed" if on else "feed.paused", feed.name, feed.url)

    with_store(switch, reads=True)
    say(f"{url} is switched {'on' if on else 'off'}")


def import_feeds(path: Path | None, *, as_json: bool) -> int:
    """Return the list at a path, or without one the starter list, switched off; exit status 1 where one cannot be
    followed.
    """
    listed = starter_list() if path is None else read_list_file(path)
    if not listed:
        raise IocError(f"{path} lists no feeds: neither OPML nor one address a line")

    async def add(store: Store, settings: Settings) -> tuple[list[Feed], list[tuple[ListedFeed, str]]]:
        added, refused = await follow_all(store, listed, fetch_allow(settings), utc_now(), enabled=path is not None)
        for feed in added:
            await on_command_line(store).note("feed.added", feed.name, feed.url)
        return added, refused

    added, refused = with_store(add)
    if as_json:
        print_json(
            {
                "added": [views.feed(feed) | {"url": feed.url} for feed in added],
                "known": len(listed) - len(added) - len(refused),
                "refused": [{"url": one.url, "reason": why} for one, why in refused],
            }
        )
    else:
        print_table("Added", ("name", "address"), [(feed.name, feed.url) for feed in added])
        for one, why in refused:
            say(f"{one.url[:200]!r} cannot be followed: {why}")
        say(f"{len(added)} of {len(listed)} feeds added" + (", switched off" if path is None else ""))
    return 1 if refused else 0


def poll_feeds(url: str | None, *, wait: bool | None, as_json: bool) -> int:
    """Poll now what would be due later; exit status 1 where a feed cannot be read."""

    async def run(store: Store, settings: Settings) -> list[PolledNow]:
        feeds = await _wanted(store, settings, url)
        return await _poll_all(store, settings, feeds, wait=not settings.served if wait is None else wait)

    polled = with_store(run, reads=True)
    if as_json:
        print_json({"items": [_shown(one) for one in polled]})
    else:
        rows = [(one.feed.name if one.feed else "", one.url, len(one.submissions), _outcome(one)) for one in polled]
        print_table("Polled", ("name", "address", "new", "outcome"), rows)
    return 1 if any(one.feed and one.feed.last_error for one in polled) else 0


async def _wanted(store: Store, settings: Settings, url: str | None) -> Sequence[Feed]:
    if url is None:
        return [feed for feed in await store.feeds.all() if feed.enabled and feed.ended_at is None]
    feed = await store.feeds.get(_id_of(url, settings))
    if feed is None:
        raise _unknown(url)
    if not feed.enabled or feed.ended_at is not None:
        raise IocError(f"{url} is not followed at the moment; switch it on with: ioc feeds enable {url}")
    return [feed]


async def _poll_all(store: Store, settings: Settings, feeds: Sequence[Feed], *, wait: bool) -> list[PolledNow]:
    """Poll feeds; embedded, this process reads the articles too, unless a running service claims them first."""
    ingest = open_ingest(settings, store)
    redis = settings.redis_address
    queue: Queue = ArqQueue(redis) if redis else EmbeddedQueue(ingest.work.read)
    submitting = Submitting(store, queue, ingest.fetch_allow, utc_now)
    polling = open_polling(
        store, submitting, ingest.isolation, ingest.fetch_allow, utc_now, ingest.fetch_limits, ingest.proxy
    )
    slots = asyncio.Semaphore(_AT_ONCE)
    try:
        with progress_bar() as bar:
            task = bar.add_task("polling feeds", total=len(feeds))

            async def poll(feed: Feed) -> PolledNow:
                async with slots:
                    polled = await _poll_now(store, polling, feed)
                bar.advance(task)
                return polled

            polled = list(await asyncio.gather(*map(poll, feeds)))
            if wait:
                submissions = [id for one in polled for id in one.submissions]
                reading = bar.add_task("reading articles", total=len(submissions))
                await _wait(store, queue, submissions, lambda ended: bar.update(reading, completed=ended))
        return polled
    finally:
        await queue.close()
        await ingest.close()


async def _poll_now(store: Store, polling: Polling, feed: Feed) -> PolledNow:
    """Poll a feed that nobody else is polling right now."""
    polled: Polled | None = None
    now = utc_now()
    if feed.lease_ends_at is None or feed.lease_ends_at <= now:
        await store.feeds.update(due_at_once(feed, now))
        polled = await polling.poll(feed.id)
    return PolledNow(feed.url, polled.feed, polled.submissions) if polled else PolledNow(feed.url, None)


async def _wait(store: Store, queue: Queue, ids: Sequence[str], tell: Callable[[int], None]) -> None:
    """Wait until all of these submissions have ended; read what is due meanwhile."""
    sweeping = asyncio.create_task(sweep(store, queue, utc_now))
    waiting = set(ids)
    try:
        while waiting:
            for id in sorted(waiting):
                submission = await store.submissions.get(id)
                if submission is None or submission.ended:
                    waiting.discard(id)
            tell(len(ids) - len(waiting))
            await asyncio.sleep(_LOOK_SECONDS if waiting else 0)
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)


def _shown(polled: PolledNow) -> dict[str, Any]:
    feed = polled.feed
    return {
        "url": polled.url,
        "name": feed.name if feed else None,
        "new": len(polled.submissions),
        "submissions": list(polled.submissions),
        "error": feed.last_error if feed else "another process is polling it",
        "next_poll_at": rfc3339(feed.next_poll_at) if feed else None,
    }


def _outcome(polled: PolledNow) -> str:
    if polled.feed is None:
        return "another process is polling it"
    return polled.feed.last_error or "well"


def _minutes(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else "never"


def _id_of(url: str, settings: Settings) -> str:
    """Return the id of the feed at an address, also where it may not be fetched any more."""
    with contextlib.suppress(RefusedUrl):
        url = str(check_url(url, fetch_allow(settings)))
    try:
        return feed_id(canonical_url(url))
    except NotAnIndicator:
        raise _unknown(url) from None


def _unknown(url: str) -> NotFound:
    return NotFound(f"{url} is not followed; see: ioc feeds list")
