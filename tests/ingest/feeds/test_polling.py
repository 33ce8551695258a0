"""Polling: what is handed in, when a feed is asked again, and what it does to the site."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from structlog.testing import capture_logs

from ingest.feed_lists import ListedFeed
from ingest.isolated import Isolation, IsolationLimits
from ingest.polling import (
    LONGEST_INTERVAL_SECONDS,
    SHORTEST_INTERVAL_SECONDS,
    keep_following,
    open_polling,
)
from ingest.submitting import Submitting
from intel.ids import OPERATOR, account_id, submission_id
from intel.records import Feed, Submission
from tests.contract.store.builders import make_article, publish
from tests.ingest.feeds.conftest import Follower
from tests.ingest.fetch.asking import LOOPBACK


def seconds_until(moment: datetime, now: datetime) -> float:
    return (moment - now).total_seconds()


async def test_what_failed_for_the_former_operator_is_not_asked_for_again(follower: Follower) -> None:
    former, link = account_id("admin@localhost"), follower.web.url("/one")
    failed = Submission(
        submission_id(former, link), former, link, "News", "failed", follower.clock.now, follower.clock.now
    )
    await follower.store.submissions.add(failed)
    follower.announce("one", "two")
    submitted = await follower.submitted(await follower.poll())
    assert [one.url for one in submitted] == [follower.web.url("/two")]


async def test_what_a_feed_announces_is_handed_in_once(follower: Follower) -> None:
    follower.announce("one", "two")
    polled = await follower.poll()
    submitted = await follower.submitted(polled)
    assert {one.url for one in submitted} == {follower.web.url("/one"), follower.web.url("/two")}
    assert {(one.account_id, one.source_name, one.status) for one in submitted} == {(OPERATOR, "News", "queued")}
    assert (polled.feed.last_error, polled.feed.failures, polled.feed.last_success_at) == (None, 0, follower.clock.now)
    follower.announce("three", "one", "two")
    assert [one.url for one in await follower.submitted(await follower.poll())] == [follower.web.url("/three")]
    assert (await follower.poll()).submissions == ()


async def test_a_page_that_failed_is_not_handed_in_again(follower: Follower) -> None:
    follower.announce("one")
    (submission,) = (await follower.poll()).submissions
    claimed = await follower.store.submissions.claim(submission, follower.clock.now, follower.clock.now)
    assert claimed is not None
    await follower.store.submissions.update(replace(claimed, status="failed", reason="http_404"))
    assert (await follower.poll()).submissions == ()


async def test_an_article_that_is_known_is_not_handed_in(follower: Follower) -> None:
    article = replace(make_article(), url=follower.web.url("/one"))
    await publish(follower.store, article)
    follower.announce("one?utm_source=rss", "two")
    assert len((await follower.poll()).submissions) == 1


async def test_a_page_that_an_account_claimed_is_read_again_under_the_name_of_the_feed(follower: Follower) -> None:
    claimed = replace(make_article("one", source="Claimed"), source_domain="news.example")
    await follower.store.articles.save(claimed, [], [follower.web.url("/one")])
    await follower.store.articles.save(make_article("two"), [], [follower.web.url("/two")])
    follower.announce("one", "two")
    (submitted,) = await follower.submitted(await follower.poll())
    assert (submitted.url, submitted.source_name, submitted.status) == (follower.web.url("/one"), "News", "queued")


async def test_the_pages_of_a_site_become_due_one_after_the_other(follower: Follower) -> None:
    follower.announce("one", "two", "three")
    submitted = await follower.submitted(await follower.poll())
    due = sorted(seconds_until(one.due_at, follower.clock.now) for one in submitted)
    assert due == [0, 3, 6]
    assert [one.id for one in follower.queue.told] == [one.id for one in submitted if one.due_at == follower.clock.now]


async def test_a_site_may_ask_for_more_time_between_its_pages(follower: Follower) -> None:
    follower.web.page("/robots.txt", b"User-agent: *\nCrawl-delay: 20\n", kind="text/plain")
    follower.announce("one", "two")
    submitted = await follower.submitted(await follower.poll())
    assert sorted(seconds_until(one.due_at, follower.clock.now) for one in submitted) == [0, 20]


async def test_a_feed_is_asked_with_what_it_said_last_time(follower: Follower) -> None:
    moment = "Fri, 20 Nov 2026 09:00:00 GMT"
    follower.announce("one", headers=('ETag: "abc"', f"Last-Modified: {moment}"))
    await follower.poll()
    first, interval = follower.asked("/feed"), (await stored(follower)).interval_seconds
    assert b"If-None-Match" not in first[0]
    follower.web.raw("/feed", b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n")
    polled = await follower.poll()
    head = follower.asked("/feed")[-1]
    assert b'If-None-Match: "abc"' in head and f"If-Modified-Since: {moment}".encode() in head
    assert (polled.submissions, polled.feed.etag, polled.feed.last_modified) == ((), '"abc"', moment)
    assert polled.feed.interval_seconds == interval * 3 // 2
    assert polled.feed.last_success_at == follower.clock.now


async def test_the_interval_follows_the_news_between_a_quarter_of_an_hour_and_a_day(follower: Follower) -> None:
    for n in range(4):
        follower.announce(f"page-{n}")
        polled = await follower.poll()
    assert polled.feed.interval_seconds == SHORTEST_INTERVAL_SECONDS
    assert SHORTEST_INTERVAL_SECONDS <= wait(polled.feed) <= SHORTEST_INTERVAL_SECONDS * 1.1
    for _ in range(16):
        polled = await follower.poll()
    assert polled.feed.interval_seconds == LONGEST_INTERVAL_SECONDS
    assert LONGEST_INTERVAL_SECONDS * 0.9 <= wait(polled.feed) <= LONGEST_INTERVAL_SECONDS


async def test_a_feed_that_asks_to_be_left_alone_is(follower: Follower) -> None:
    follower.announce("one", head="<ttl>300</ttl>")
    assert (await follower.poll()).feed.interval_seconds == 300 * 60


async def test_failures_wait_twice_as_long_each_time_up_to_a_day(follower: Follower) -> None:
    follower.web.page("/feed", b"", status=500)
    waits = []
    for n in range(8):
        polled = await follower.poll()
        assert (polled.feed.failures, polled.feed.last_error) == (
            n + 1,
            "The site answered 500 (Internal Server Error).",
        )
        waits.append(wait(polled.feed))
    assert [round(seconds / 3600) for seconds in waits[:2]] == [2, 4]
    assert all(1.5 < later / earlier < 2.5 for earlier, later in pairwise(waits[:4]))
    assert LONGEST_INTERVAL_SECONDS * 0.9 <= waits[-1] <= LONGEST_INTERVAL_SECONDS
    follower.announce("one")
    polled = await follower.poll()
    assert (polled.feed.failures, polled.feed.last_error, len(polled.submissions)) == (0, None, 1)


async def test_a_feed_that_is_gone_for_good_ends(follower: Follower) -> None:
    follower.web.page("/feed", b"", status=410)
    polled = await follower.poll()
    assert (polled.feed.ended_at, polled.feed.last_error) == (follower.clock.now, "The site answered 410 (Gone).")
    follower.clock.forward(90 * 86400)
    assert await follower.polling.poll(follower.feed.id) is None
    assert await follower.store.feeds.due(follower.clock.now, 10) == ()


@pytest.mark.parametrize("status", [429, 503])
async def test_a_site_may_say_when_to_come_back(follower: Follower, status: int) -> None:
    feed = await stored(follower)
    assert await follower.store.feeds.update(replace(feed, interval_seconds=SHORTEST_INTERVAL_SECONDS))
    follower.web.page("/feed", b"", "Retry-After: 3500", status=status)
    assert wait((await follower.poll()).feed) == 3500


async def test_what_is_no_feed_is_told_in_words(follower: Follower) -> None:
    follower.web.page("/feed")
    assert (await follower.poll()).feed.last_error == "The address does not lead to an RSS, Atom or JSON feed."


async def test_a_feed_of_more_than_five_megabytes_is_not_read(follower: Follower) -> None:
    follower.web.page("/feed", b"<rss>" + b" " * (5 << 20), kind="text/xml")
    polled = await follower.poll()
    assert polled.feed.failures == 1 and "larger" in (polled.feed.last_error or "")


async def test_a_feed_may_not_lead_into_the_network_of_the_service(follower: Follower) -> None:
    follower.web.redirect("/feed", "http://10.0.0.1/feed")
    polled = await follower.poll()
    assert polled.feed.failures == 1 and "10.0.0.1" not in (polled.feed.last_error or "10.0.0.1")
    follower.announce("http://10.0.0.1/one", "http://169.254.169.254/latest", "two")
    assert len((await follower.poll()).submissions) == 1


async def test_a_site_that_never_answers_is_given_up(follower: Follower) -> None:
    follower.web.without_end("/feed", b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n", b"x" * 65536)
    polled = await follower.poll()
    assert polled.feed.failures == 1 and "larger" in (polled.feed.last_error or "")


async def test_a_feed_that_robots_may_not_read_is_not_read(follower: Follower) -> None:
    follower.web.page("/robots.txt", b"User-agent: *\nDisallow: /feed\n", kind="text/plain")
    follower.announce("one")
    polled = await follower.poll()
    assert polled.feed.last_error == "The site's robots.txt asks not to read this address."
    assert follower.asked("/feed") == []


async def test_pages_that_robots_may_not_read_are_left_out(follower: Follower) -> None:
    rules = b"User-agent: other\nDisallow: /\n\nUser-agent: ioc-intelligence\nDisallow: /private\n"
    follower.web.page("/robots.txt", rules, kind="text/plain")
    follower.announce("private/one", "public")
    submitted = await follower.submitted(await follower.poll())
    assert [one.url for one in submitted] == [follower.web.url("/public")]


async def test_a_robots_txt_that_is_not_there_allows_everything_and_is_asked_for_once_a_day(follower: Follower) -> None:
    follower.announce("one")
    await follower.poll()
    follower.announce("two")
    assert len((await follower.poll()).submissions) == 1
    assert len(follower.asked("/robots.txt")) == 1
    follower.clock.forward(86400)
    await follower.poll()
    assert len(follower.asked("/robots.txt")) == 2


async def test_a_site_whose_robots_txt_is_out_of_reach_is_waited_for(follower: Follower) -> None:
    follower.web.page("/robots.txt", b"", status=503)
    follower.announce("one")
    polled = await follower.poll()
    assert polled.feed.last_error == "The site's robots.txt could not be read."
    assert follower.asked("/feed") == []
    follower.web.page("/robots.txt", b"", kind="text/plain")
    assert len((await follower.poll()).submissions) == 1


async def test_pages_of_a_site_that_is_out_of_reach_are_met_again(follower: Follower) -> None:
    elsewhere = follower.web.url("/one", host="127.0.0.2")  # nobody listens there
    follower.announce("one", elsewhere, headers=('ETag: "abc"',))
    polled = await follower.poll()
    assert (len(polled.submissions), polled.feed.etag, polled.feed.failures) == (1, None, 0)


@pytest.mark.slow
async def test_a_robots_txt_that_takes_for_ever_to_judge_does_no_harm(follower: Follower) -> None:
    agents = b"".join(b"User-agent: a%d\n" % n for n in range(16_000))
    follower.web.page("/robots.txt", agents + b"Disallow: /x\n" * 16_000, kind="text/plain")
    follower.announce("one")
    isolation = Isolation(IsolationLimits(cpu_seconds=1), preload=["ingest.robots"])
    submitting = Submitting(follower.store, follower.queue, LOOPBACK, follower.clock)
    follower.polling = open_polling(follower.store, submitting, isolation, LOOPBACK, follower.clock)
    polled = await follower.poll()
    await isolation.close()
    assert polled.feed.last_error == "The site's robots.txt could not be read."


async def test_of_two_who_poll_at_once_one_does(follower: Follower) -> None:
    follower.announce("one")
    polled = await asyncio.gather(*(follower.polling.poll(follower.feed.id) for _ in range(5)))
    assert [one is not None for one in polled].count(True) == 1
    assert len(follower.asked("/feed")) == 1


async def test_a_feed_switched_off_while_it_is_polled_stays_off(follower: Follower) -> None:
    release = asyncio.Event()
    follower.announce("one")
    answer = follower.web.pages["/feed"]

    async def held(writer: asyncio.StreamWriter) -> None:
        await release.wait()
        await answer(writer)

    follower.web.pages["/feed"] = held
    polling = asyncio.create_task(follower.polling.poll(follower.feed.id))
    await until(lambda: follower.asked("/feed"))
    await follower.store.feeds.update(replace(await stored(follower), enabled=False))
    release.set()
    assert await polling is None
    assert not (await stored(follower)).enabled


async def test_a_poll_that_is_broken_off_gives_its_lease_back(follower: Follower) -> None:
    follower.web.without_end("/feed", b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n", b"<!-- -->", 0.05)
    polling = asyncio.create_task(follower.polling.poll(follower.feed.id))
    await until(lambda: follower.asked("/feed"))
    polling.cancel()
    await asyncio.gather(polling, return_exceptions=True)
    assert (await stored(follower)).lease_ends_at is None
    follower.announce("one")
    assert len((await follower.poll()).submissions) == 1


async def test_one_host_is_asked_by_one_at_a_time(follower: Follower) -> None:
    at_once: list[int] = [0, 0]
    follower.announce("one")
    answer = follower.web.pages["/feed"]

    async def counted(writer: asyncio.StreamWriter) -> None:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(0.05)
        await answer(writer)
        at_once[0] -= 1

    feeds = [replace(follower.feed, id=f"feed-{n}", url=follower.web.url(f"/feed-{n}")) for n in range(5)]
    for feed in feeds:
        follower.web.pages[f"/{feed.id}"] = counted
        await follower.store.feeds.add(feed)
    await asyncio.gather(*(follower.polling.poll(feed.id) for feed in feeds))
    assert at_once == [0, 1]


@pytest.fixture
async def following(follower: Follower) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks: list[asyncio.Task[None]] = []
    yield tasks
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
async def test_a_host_that_another_process_asks_is_left_to_it(follower: Follower, host: str) -> None:
    follower.announce("one")
    now = follower.clock.now
    beside = replace(follower.feed, id="beside", url=follower.web.url("/beside", host=host))
    await follower.store.feeds.add(beside)
    assert await follower.store.feeds.claim("beside", now, now + timedelta(minutes=10))
    polled = await follower.polling.poll(follower.feed.id)
    assert (polled is None, follower.asked("/feed") == []) == ((True, True) if host == "127.0.0.1" else (False, False))
    follower.clock.forward(600)
    assert (await follower.poll()).feed.failures == 0


async def test_listed_feeds_are_added_and_followed_without_being_told(
    follower: Follower, following: list[asyncio.Task[None]]
) -> None:
    follower.announce("one")
    listed = (ListedFeed(follower.web.url("/listed"), "Listed"), ListedFeed("gopher://u:word@x.example/word?key=word"))
    loop = keep_following(follower.polling, follower.store, listed, LOOPBACK, follower.clock)
    with capture_logs() as logs:
        following.append(asyncio.create_task(loop))
        await until(lambda: follower.queue.told and follower.asked("/listed"))
    (refused,) = [line for line in logs if "cannot be followed" in line["event"]]
    assert refused["host"] == "x.example" and "word" not in str(refused)
    assert [feed.name for feed in await follower.store.feeds.all()] == ["Listed", "News"]


def wait(feed: Feed) -> float:
    """The seconds from the latest poll to the next."""
    assert feed.last_polled_at is not None
    return (feed.next_poll_at - feed.last_polled_at) / timedelta(seconds=1)


async def stored(follower: Follower) -> Feed:
    found = await follower.store.feeds.get(follower.feed.id)
    assert found is not None
    return found


async def until(condition: Callable[[], Any]) -> None:
    """Waits until that holds, for 20 seconds at most."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("never came true")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("max-age=36000", 36_000),
        ("public, max-age=36000, stale-if-error=1", 36_000),
        ('MAX-AGE="36000"', 36_000),
        ("max-age=999999999", LONGEST_INTERVAL_SECONDS),
        ("no-cache", 3600 // 2),
        ("s-maxage=36000", 3600 // 2),
        ("max-age=-1", 3600 // 2),
        ("max-age=" + "9" * 400, 3600 // 2),
    ],
)
async def test_an_answer_that_stays_good_is_not_asked_for_meanwhile(
    follower: Follower, header: str, seconds: int
) -> None:
    follower.announce("one", headers=(f"Cache-Control: {header}",))
    assert (await follower.poll()).feed.interval_seconds == seconds


@pytest.mark.parametrize(("status", "moves"), [(301, True), (308, True), (302, False), (307, False)])
async def test_a_feed_that_moved_for_good_is_asked_at_its_new_address(
    follower: Follower, status: int, moves: bool
) -> None:
    follower.announce("one", "two")
    await follower.poll()
    follower.announce("one", "two", "three")
    follower.web.pages["/new-feed"] = follower.web.pages["/feed"]
    follower.web.redirect("/feed", "/new-feed", status)
    polled = await follower.poll()
    assert len(polled.submissions) == 1
    assert polled.feed.url == follower.web.url("/new-feed" if moves else "/feed")
    assert (await stored(follower)).id == polled.feed.id


@pytest.mark.slow
async def test_a_feed_stays_where_it_was_when_something_else_is_at_the_other_address(follower: Follower) -> None:
    follower.announce("one")
    await follower.poll()
    follower.announce("entirely", "different")
    follower.web.pages["/other"] = follower.web.pages["/feed"]
    follower.web.redirect("/feed", "/other", 301)
    assert (await follower.poll()).feed.url == follower.web.url("/feed")
