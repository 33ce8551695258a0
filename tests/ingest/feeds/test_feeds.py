"""Reading feeds, friendly and hostile."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ingest.feeds import MOST_ENTRIES, ReadFeed, read_feed
from ingest.fetch import FetchAllow
from ingest.isolated import Isolation
from intel.errors import ArticleUnreadable, IngestFailed
from tests.cases import each
from tests.ingest.feeds.publishing import atom, rss

URL = "https://blog.example/feed"
ALLOW = FetchAllow()


def read(body: bytes, content_type: str = "application/rss+xml", charset: str | None = None) -> ReadFeed:
    return read_feed(body, content_type, charset, URL, str(ALLOW))


def links(body: bytes, content_type: str = "application/rss+xml") -> list[str]:
    return [entry.link for entry in read(body, content_type).entries]


def test_the_entries_of_rss_come_in_its_order() -> None:
    assert links(rss(["https://blog.example/2", "https://blog.example/1"])) == [
        "https://blog.example/2",
        "https://blog.example/1",
    ]


def test_the_entries_of_atom_come_newest_first() -> None:
    body = atom(
        ("https://blog.example/old", "2026-11-01T00:00:00Z"), ("https://blog.example/new", "2026-11-20T09:00:00+01:00")
    )
    entries = read(body, "application/atom+xml").entries
    assert [entry.link for entry in entries] == ["https://blog.example/new", "https://blog.example/old"]
    assert entries[0].published_at == datetime(2026, 11, 20, 8, tzinfo=UTC)


@each("content_type", ["application/feed+json", "application/json", "text/plain", "text/xml"])
def test_a_json_feed_is_read_whatever_it_is_declared_as(content_type: str) -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [
            {"id": "1", "url": "https://blog.example/1", "date_published": "2026-11-20T09:00:00Z"},
            {"id": "2"},
            {"url": 5},
            {"url": "https://blog.example/2", "date_published": "yesterday"},
            "nonsense",
        ],
    }
    assert links(json.dumps(feed).encode(), content_type) == ["https://blog.example/1", "https://blog.example/2"]


def test_a_permanent_guid_stands_for_a_missing_link() -> None:
    body = b'<rss version="2.0"><channel><item><guid>https://blog.example/g</guid></item></channel></rss>'
    assert links(body) == ["https://blog.example/g"]


def test_relative_links_belong_to_the_feeds_site() -> None:
    assert links(rss(["/posts/1", "2"])) == ["https://blog.example/posts/1", "https://blog.example/2"]


@each(
    "link",
    [
        "javascript:alert(1)", "file:///etc/passwd", "ftp://blog.example/1", "http://127.0.0.1/", "http://169.254.169.254/",
        "http://localhost/", "http://[::1]/", "https://user:word@blog.example/", "https://blog.example:22/", "http://2130706433/",
        "data:text/html,x", "https://" + "a" * 3000, "//", "http://[", "",
    ],
)  # fmt: skip
def test_links_that_may_not_be_fetched_are_left_out(link: str) -> None:
    assert links(rss([link, "https://blog.example/good"]))[-1:] == ["https://blog.example/good"]
    assert all(found.startswith("https://blog.example/") for found in links(rss([link])))


def test_a_link_counts_once_whatever_its_tracking_parameters() -> None:
    body = rss(["https://blog.example/1?utm_source=rss", "https://blog.example/1#comments", "https://blog.example/1"])
    assert len(links(body)) == 1


@each(
    ("head", "seconds"),
    [
        ("", 0),
        ("<ttl>60</ttl>", 3600),
        ("<ttl>soon</ttl>", 0),
        ("<ttl>999999999999</ttl>", 0),
        ("<ttl>99999</ttl>", 86400),
        ('<sy:updatePeriod xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">daily</sy:updatePeriod>', 86400),
    ],
)
def test_a_feed_may_ask_to_be_left_alone_for_up_to_a_day(head: str, seconds: int) -> None:
    assert read(rss([], head)).rest_seconds == seconds


@each(
    "body",
    [
        b"", b"\x00\xff" * 500, b"<html><body>Hello</body></html>", b"{", b"{}", b'{"version": 1, "items": []}',
        b'{"version": "https://jsonfeed.org/version/1", "items": 7}', b'{"a":' * 100_000, b"just words",
    ],
)  # fmt: skip
def test_what_is_no_feed_is_told(body: bytes) -> None:
    with pytest.raises(ArticleUnreadable) as failed:
        read(body)
    assert failed.value.reason == "not_a_feed"


def test_a_feed_cut_short_gives_what_is_there() -> None:
    assert links(rss(["https://blog.example/1", "https://blog.example/2"])[:-60])[:1] == ["https://blog.example/1"]


@pytest.mark.slow
async def test_of_a_hundred_thousand_entries_the_newest_are_read(isolation: Isolation) -> None:
    body = rss([f"/{n}" for n in range(100_000)])
    assert len(body) < 6_000_000
    found = await isolation.run(read_feed, body, "text/xml", None, URL, str(ALLOW))
    assert [entry.link for entry in found.entries] == [f"https://blog.example/{n}" for n in range(MOST_ENTRIES)]


@pytest.mark.slow
def test_of_a_long_feed_the_newest_come_first_wherever_they_stand() -> None:
    moments = [
        (f"https://blog.example/{n}", f"2026-11-{1 + n // 100:02}T00:{n % 60:02}:{n // 60:02}Z") for n in range(1500)
    ]
    newest = sorted(moments, key=lambda entry: entry[1], reverse=True)[:MOST_ENTRIES]
    assert links(atom(*moments)) == [link for link, _ in newest]


async def test_external_entities_are_not_read(isolation: Isolation) -> None:
    declaration = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    body = rss(["https://blog.example/&x;"], declaration=declaration)
    found = await isolation.run(read_feed, body, "text/xml", None, URL, str(ALLOW))
    assert [entry.link for entry in found.entries] in ([], ["https://blog.example/"], ["https://blog.example/&x;"])


@pytest.mark.slow
async def test_an_entity_bomb_does_no_harm(isolation: Isolation) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    declaration = f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "xxxxxxxxxx">{levels}]>'
    try:
        found = await isolation.run(
            read_feed, rss(["/&e11;"], declaration=declaration), "text/xml", None, URL, str(ALLOW)
        )
        assert all(len(entry.link) <= 2048 for entry in found.entries)
    except IngestFailed as failed:
        assert failed.reason in ("parse_memory", "parse_timeout", "not_a_feed")
