"""Polling feeds: asking each for what is new, politely, and handing that in to be read like any submission.

A feed is asked with what it said last time (ETag, Last-Modified), at an interval that follows how often it has news.
That is kept only once everything new has been handed in, so that a poll that was cut short is made up for by the next.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import structlog

from ingest.blocking import Blocking
from ingest.endless import one_round
from ingest.feed_lists import ListedFeed, follow_all
from ingest.feeds import (
    FEED_TYPES,
    LARGEST_FEED_BYTES,
    LONGEST_REST_SECONDS,
    MOST_ENTRIES,
    FeedEntry,
    ReadFeed,
    read_feed,
)
from ingest.fetch import FetchAllow, FetchedPage, Fetcher, FetchLimits
from ingest.isolated import Isolation
from ingest.robots import LARGEST_ROBOTS_BYTES, ROBOTS_TYPES, Robots, Verdict, site_of
from ingest.submitting import Submitting
from intel.canonical import canonical_url
from intel.errors import FetchFailed, IngestFailed, QueueFull, RefusedUrl, StoreUnavailable
from intel.ids import OPERATOR, account_id, feed_id, submission_id
from intel.records import Feed, Submission
from intel.store import Store

log = structlog.get_logger()

# Owned what feeds submitted before `OPERATOR` did; what failed then is not asked for again.
_FORMER_OPERATOR: Final = account_id("admin@localhost")
SHORTEST_INTERVAL_SECONDS: Final = 15 * 60
LONGEST_INTERVAL_SECONDS: Final = 24 * 3600

_LEASE: Final = timedelta(minutes=10)
# Asking the sites of new pages for their robots.txt: what is not done by then waits for the next poll.
_SITES_SECONDS: Final = 120.0
_SITES_AT_ONCE: Final = 4
_FEEDS_AT_ONCE: Final = 4
_LOOK_SECONDS: Final = 10.0
_BREATH_SECONDS: Final = 0.1
_HOST_BUSY_SECONDS: Final = (20.0, 60.0)
_ROBOTS_SECONDS: Final = 10.0
_MAX_AGE: Final = re.compile(r"(?i)(?:^|[\s,])max-age=\"?([0-9]{1,9})(?![0-9])")
_CONDITIONS: Final = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
# Between two pages of one site that a feed announces: a new feed may announce two hundred.
_BETWEEN_PAGES_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Polled:
    """One poll: the feed as it is now, and the ids of the submissions that it led to."""

    feed: Feed
    submissions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class News:
    """What became of new entries: submissions made, and how many wait until their site can be asked."""

    submissions: tuple[str, ...] = ()
    waiting: int = 0


class Polite:
    """Lets one at a time ask each host."""

    def __init__(self) -> None:
        self._hosts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def alone(self, url: str) -> AsyncIterator[None]:
        """Keep everybody else from asking this host meanwhile."""
        host = urlsplit(url).hostname or ""
        lock = self._hosts.setdefault(host, asyncio.Lock())
        async with lock:
            yield


class Polling:
    """Polls feeds; `feed_fetcher` and `robots_fetcher` are guarded and bounded."""

    def __init__(
        self,
        store: Store,
        submitting: Submitting,
        feed_fetcher: Fetcher,
        robots_fetcher: Fetcher,
        isolation: Isolation,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._submitting = submitting
        self._feed_fetcher = feed_fetcher
        self._robots_fetcher = robots_fetcher
        self._isolation = isolation
        self._clock = clock
        self._polls = Polite()
        self._polite = Polite()
        self._robots = Robots(self._fetch_robots, isolation, clock)

    async def follow(self) -> None:
        """Poll what is due, again and again, until cancelled."""
        while True:
            polled = await one_round(self._poll_due, "looking for feeds that are due")
            await asyncio.sleep(_LOOK_SECONDS if (polled or 0) < _FEEDS_AT_ONCE else _BREATH_SECONDS)

    async def _poll_due(self) -> int:
        due = await self._store.feeds.due(self._clock(), _FEEDS_AT_ONCE)
        await asyncio.gather(*(self._poll_logged(feed) for feed in due))
        return len(due)

    async def _poll_logged(self, feed: Feed) -> None:
        try:
            await self.poll(feed.id)
        except StoreUnavailable:
            log.warning("the store is out of reach; the feed is polled again later", feed=feed.id)
        except Exception:
            log.exception("polling a feed failed in an unforeseen way", feed=feed.id)

    async def poll(self, feed_id: str) -> Polled | None:
        """Poll a feed if it is due, and write into it what went wrong.

        None where it is not due, was changed meanwhile, or another process is polling a feed of the same host.
        """
        known = await self._store.feeds.get(feed_id)
        if known is None:
            return None
        async with self._polls.alone(known.url):
            feed = await self._claimed(feed_id)
            return await self._poll_claimed(feed) if feed else None

    async def _claimed(self, feed_id: str) -> Feed | None:
        """Return the feed, unless another one of its host is leased: of two who claim at once, at least one sees the
        other.
        """
        now = self._clock()
        feed = await self._store.feeds.claim(feed_id, now, now + _LEASE)
        if feed is None or not _is_beside(feed, await self._store.feeds.all(), now):
            return feed
        later = now + timedelta(seconds=random.uniform(*_HOST_BUSY_SECONDS))
        await self._store.feeds.update(replace(feed, lease_ends_at=None, next_poll_at=later))
        return None

    async def _poll_claimed(self, feed: Feed) -> Polled | None:
        submissions: tuple[str, ...] = ()
        try:
            after, submissions = await self._polled(feed)
        except IngestFailed as failure:
            after = after_failure(feed, failure, self._clock())
        except asyncio.CancelledError:
            with suppress(StoreUnavailable):
                await self._store.feeds.update(replace(feed, lease_ends_at=None))
            raise
        written = await self._store.feeds.update(replace(after, lease_ends_at=None))
        return Polled(written, submissions) if written else None

    async def _polled(self, feed: Feed) -> tuple[Feed, tuple[str, ...]]:
        page = await self._fetch_feed(feed)
        rest_seconds = fresh_seconds(page.headers.get("cache-control", ""))
        if page.status == 304:
            headers = _remembered(feed) | dict(page.headers)
            return after_success(feed, headers, News(), rest_seconds, self._clock()), ()
        read: ReadFeed = await self._isolation.run(
            read_feed, page.body, page.content_type, page.charset, page.final_url, str(self._submitting.fetch_allow)
        )
        new = [entry for entry in read.entries[:MOST_ENTRIES] if await self._is_new(entry)]
        news = await self._hand_in(feed, new)
        feed = await self._moved(feed, page, is_the_same=len(new) < len(read.entries))
        rest_seconds = max(min(read.rest_seconds, LONGEST_REST_SECONDS), rest_seconds)
        return after_success(feed, page.headers, news, rest_seconds, self._clock()), news.submissions

    async def _moved(self, feed: Feed, page: FetchedPage, *, is_the_same: bool) -> Feed:
        """Return the feed at the address to which its site moved it for good, once it is known to be the same one
        there.
        """
        if page.moved_to is None or not is_the_same:
            return feed
        if await self._store.feeds.get(feed_id(canonical_url(page.moved_to))) is not None:
            return feed
        log.info("a feed has moved", feed=feed.id)
        return replace(feed, url=page.moved_to)

    async def _fetch_feed(self, feed: Feed) -> FetchedPage:
        (verdict,) = (await self._robots.ask([feed.url])).verdicts
        if verdict is Verdict.DISALLOWED:
            raise FetchFailed("robots_disallowed", "The site's robots.txt asks not to read this address.")
        if verdict is Verdict.WAIT:
            raise FetchFailed("robots_unreachable", "The site's robots.txt could not be read.", retryable=True)
        unless = {_CONDITIONS[name]: value for name, value in _remembered(feed).items()}
        async with self._polite.alone(feed.url):
            return await self._feed_fetcher.fetch(feed.url, types=FEED_TYPES, unless=unless)

    async def _fetch_robots(self, url: str) -> FetchedPage:
        async with self._polite.alone(url):
            return await self._robots_fetcher.fetch(url, types=ROBOTS_TYPES)

    async def _is_new(self, entry: FeedEntry) -> bool:
        """Return whether no feed announced the page, and nobody but an account took it in.

        A page that failed is not asked for at every poll.
        """
        address = canonical_url(entry.link)
        for owner in (OPERATOR, _FORMER_OPERATOR):
            if await self._store.submissions.get(submission_id(owner, address)):
                return False
        article_id = await self._store.articles.id_of(address)
        article = await self._store.articles.get(article_id) if article_id else None
        return article is None or article.source_domain is not None

    async def _hand_in(self, feed: Feed, entries: Sequence[FeedEntry]) -> News:
        """Hand in pages in random order of their sites, so that slow ones do not keep the same others waiting."""
        sites = _by_site(entries)
        slots = asyncio.Semaphore(_SITES_AT_ONCE)
        handing = [
            asyncio.create_task(self._hand_in_site(feed, sites[site], slots))
            for site in random.sample(list(sites), len(sites))
        ]
        try:
            if handing:
                await asyncio.wait(handing, timeout=_SITES_SECONDS)
        finally:
            for task in handing:
                task.cancel()
            ended = await asyncio.gather(*handing, return_exceptions=True)
        made = [submission.id for one in ended if isinstance(one, tuple) for submission in one[0]]
        _raise_first(one for one in ended if isinstance(one, Exception))
        waiting = sum(1 if isinstance(one, BaseException) else one[1] for one in ended)
        return News(tuple(made), waiting)

    async def _hand_in_site(
        self, feed: Feed, links: Sequence[str], slots: asyncio.Semaphore
    ) -> tuple[list[Submission], int]:
        """Return the submissions of one site's pages, each due a while after the one before; and how many have to
        wait.
        """
        async with slots:
            asked = await self._robots.ask(links)
        between = timedelta(seconds=max(asked.delay_seconds, _BETWEEN_PAGES_SECONDS))
        made: list[Submission] = []
        for link, verdict in zip(links, asked.verdicts, strict=True):
            if verdict is Verdict.ALLOWED:
                due_at = self._clock() + between * len(made) if made else None
                try:
                    made.append(await self._submitting.submit(OPERATOR, link, feed.name, due_at))
                except RefusedUrl:
                    continue
                except QueueFull:
                    return made, asked.verdicts.count(Verdict.WAIT) + 1
        return made, asked.verdicts.count(Verdict.WAIT)


def open_polling(
    store: Store,
    submitting: Submitting,
    isolation: Isolation,
    allow: FetchAllow,
    clock: Callable[[], datetime],
    limits: FetchLimits | None = None,
    proxy: str | None = None,
) -> Polling:
    """Return polling with fetchers of its own, within `limits` and those of feeds and of robots.txt."""
    limits = limits or FetchLimits()
    for_feeds = replace(limits, body_bytes=min(limits.body_bytes, LARGEST_FEED_BYTES))
    for_robots = replace(
        limits,
        total_seconds=min(limits.total_seconds, _ROBOTS_SECONDS),
        body_bytes=min(limits.body_bytes, LARGEST_ROBOTS_BYTES),
    )
    feeds, robots = (
        Fetcher(allow, each, clock=clock, proxy=proxy, check_host=Blocking(store).check)
        for each in (for_feeds, for_robots)
    )
    return Polling(store, submitting, feeds, robots, isolation, clock)


async def keep_following(
    polling: Polling, store: Store, listed: Sequence[ListedFeed], allow: FetchAllow, clock: Callable[[], datetime]
) -> None:
    """Add the listed feeds that are not there yet, then poll what is due, until cancelled."""
    while listed:
        try:
            _, refused = await follow_all(store, listed, allow, clock())
        except StoreUnavailable:
            await asyncio.sleep(_LOOK_SECONDS)
            continue
        for one, why in refused:
            # The rest of its address may hold what lets one in.
            log.warning("a listed feed cannot be followed", host=_host_of(one.url), why=why)
        break
    await polling.follow()


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def fresh_seconds(cache_control: str) -> int:
    """Return how long a site says that its answer stays good, at most a day."""
    ages = _MAX_AGE.findall(cache_control[:500])
    return min(int(ages[0]), LONGEST_INTERVAL_SECONDS) if ages else 0


def after_success(feed: Feed, headers: Mapping[str, str], news: News, rest_seconds: int, now: datetime) -> Feed:
    """Return the feed after an answer: asked again sooner where it had news, later where not."""
    interval = feed.interval_seconds // 2 if news.submissions else feed.interval_seconds * 3 // 2
    interval = min(max(interval, rest_seconds, SHORTEST_INTERVAL_SECONDS), LONGEST_INTERVAL_SECONDS)
    # Unless all that is new was handed in, the next poll has to see it again.
    etag, last_modified = (None if news.waiting else headers.get(name) for name in ("etag", "last-modified"))
    return replace(
        feed,
        interval_seconds=interval,
        next_poll_at=now + timedelta(seconds=_jittered(interval)),
        etag=etag,
        last_modified=last_modified,
        last_polled_at=now,
        last_success_at=now,
        failures=0,
        last_error=None,
    )


def after_failure(feed: Feed, failure: IngestFailed, now: datetime) -> Feed:
    """Return the feed after a failure: asked again after twice the time at each; ended where the site says it is
    gone.
    """
    failures = feed.failures + 1
    wait = _jittered(feed.interval_seconds * 2 ** min(failures, 10))
    next_poll_at = now + timedelta(seconds=max(wait, failure.retry_after_seconds or 0.0))
    return replace(
        feed,
        next_poll_at=next_poll_at,
        last_polled_at=now,
        failures=failures,
        last_error=failure.detail,
        ended_at=now if failure.reason == "http_410" else None,
    )


def _jittered(seconds: float) -> float:
    """Return about so long, so that feeds added together do not stay together; never beyond the bounds."""
    return min(max(seconds * random.uniform(0.9, 1.1), SHORTEST_INTERVAL_SECONDS), LONGEST_INTERVAL_SECONDS)


def _remembered(feed: Feed) -> dict[str, str]:
    """Return the headers by which a site knows what it said last time."""
    known = {"etag": feed.etag, "last-modified": feed.last_modified}
    return {name: value for name, value in known.items() if value}


def _is_beside(feed: Feed, others: Iterable[Feed], now: datetime) -> bool:
    """Tell whether another feed of the same host is being polled."""
    host = urlsplit(feed.url).hostname
    leased = (other for other in others if other.id != feed.id and other.lease_ends_at and other.lease_ends_at > now)
    return any(urlsplit(other.url).hostname == host for other in leased)


def _by_site(entries: Iterable[FeedEntry]) -> dict[str, list[str]]:
    sites: dict[str, list[str]] = {}
    for entry in entries:
        sites.setdefault(site_of(entry.link), []).append(entry.link)
    return sites


def _raise_first(errors: Iterable[Exception]) -> None:
    for error in errors:
        raise error
