"""`ioc feeds …`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_httpserver import HTTPServer

from tests.api.pages import KESTREL, article_page
from tests.end_to_end.processes import Installation, until
from tests.ingest.feeds.publishing import rss

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    """A blog with one report and a feed, and without a robots.txt."""
    httpserver.expect_request("/robots.txt").respond_with_data("", 404)
    httpserver.expect_request("/report").respond_with_data(article_page(), content_type="text/html")
    feed = rss([httpserver.url_for("/report")])
    httpserver.expect_request("/feed").respond_with_data(feed, content_type="application/rss+xml")
    return httpserver


def listed(here: Installation) -> list[dict[str, Any]]:
    answer = here.run("feeds", "list", "--json")
    assert answer.returncode == 0, answer.stderr
    items: list[dict[str, Any]] = json.loads(answer.stdout)["items"]
    return items


def test_a_feed_is_added_polled_read_and_removed(here: Installation, site: HTTPServer) -> None:
    url = site.url_for("/feed")
    added = here.run("feeds", "add", url, "--name", "Example Research", "--json")
    assert added.returncode == 0, added.stderr
    assert (json.loads(added.stdout)["name"], json.loads(added.stdout)["state"]) == ("Example Research", "waiting")
    again = here.run("feeds", "add", url)
    assert again.returncode == 1 and "followed already" in again.stderr
    polled = here.run("feeds", "poll", "--json")
    assert polled.returncode == 0, polled.stderr
    (item,) = json.loads(polled.stdout)["items"]
    assert (item["url"], item["new"], item["error"]) == (url, 1, None)
    found = json.loads(here.run("list", "--source", "Example Research", "--json").stdout)["items"]
    assert sorted((ioc["type"], ioc["value"]) for ioc in found) == sorted(KESTREL)
    assert [(one["url"], one["state"]) for one in listed(here)] == [(url, "well")]
    assert here.run("feeds", "remove", url).returncode == 0
    assert listed(here) == []
    assert here.run("feeds", "remove", url).returncode == 1


def test_a_feed_that_cannot_be_read_is_told_in_words(here: Installation, site: HTTPServer) -> None:
    url = site.url_for("/report")
    assert here.run("feeds", "add", url).returncode == 0
    polled = here.run("feeds", "poll", url)
    assert polled.returncode == 1
    assert "does not lead to an RSS, Atom or JSON feed" in " ".join(polled.stdout.split())
    assert [(one["state"], one["failures"]) for one in listed(here)] == [("failing", 1)]


def test_a_feed_is_switched_off_and_on(here: Installation, site: HTTPServer) -> None:
    url = site.url_for("/feed")
    here.run("feeds", "add", url)
    assert here.run("feeds", "disable", url).returncode == 0
    refused = here.run("feeds", "poll", url)
    assert refused.returncode == 1 and "ioc feeds enable" in refused.stderr
    assert json.loads(here.run("feeds", "poll", "--json").stdout) == {"items": []}
    assert here.run("feeds", "enable", url).returncode == 0
    assert here.run("feeds", "poll", url, "--no-wait").returncode == 0


def test_lists_of_feeds_are_imported(here: Installation, tmp_path: Path) -> None:
    opml = (
        '<?xml version="1.0"?><opml version="2.0"><head><title>Mine</title></head><body><outline text="Group">'
        '<outline type="rss" text="First &amp; best" xmlUrl="https://first.example/feed"/>'
        '<outline text="no feed"/><outline xmlUrl="http://127.0.0.1:1/feed?a=1&amp;b=2"></outline>'
        '<outline xmlUrl="javascript:alert(1)"/></outline></body></opml>'
    )
    (tmp_path / "mine.opml").write_text(opml)
    imported = here.run("feeds", "import", str(tmp_path / "mine.opml"), "--json")
    assert imported.returncode == 1
    told = json.loads(imported.stdout)
    assert [one["url"] for one in told["refused"]] == ["javascript:alert(1)"]
    assert [(one["name"], one["url"]) for one in listed(here)] == [
        ("127.0.0.1", "http://127.0.0.1:1/feed?a=1&b=2"),
        ("First & best", "https://first.example/feed"),
    ]
    (tmp_path / "list").write_text(
        "# mine\nhttps://first.example/feed\nhttps://third.example/feed  Third one # good\n\n"
    )
    again = here.run("feeds", "import", str(tmp_path / "list"), "--json")
    assert again.returncode == 0
    assert (json.loads(again.stdout)["known"], json.loads(again.stdout)["added"][0]["name"]) == (1, "Third one")


def test_the_starter_list_is_added_switched_off(here: Installation) -> None:
    assert here.run("feeds", "import", "--starter").returncode == 0
    feeds = listed(here)
    assert len(feeds) >= 12
    assert {feed["state"] for feed in feeds} == {"off"}
    assert all(re.fullmatch(r"https://[^ ?]+", feed["url"]) and " " in feed["name"] + " " for feed in feeds)


@pytest.mark.parametrize("arguments", [("import",), ("import", "x", "--starter"), ("add",), ("nonsense",)])
def test_wrong_usage_ends_with_2(here: Installation, arguments: tuple[str, ...]) -> None:
    assert here.run("feeds", *arguments).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("import", "/nowhere/list"), "cannot be read"),
        (("add", "http://10.0.0.1/feed"), "blocked_address"),
        (("add", "gopher://x.example/"), "http://"),
        (("remove", "https://unknown.example/feed"), "is not followed"),
        (("enable", "nonsense"), "is not followed"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(here: Installation, arguments: tuple[str, ...], told: str) -> None:
    if told == "is not followed":
        assert here.run("account", "create", "a@example.org", typed="a long enough password\n").returncode == 0
    ended = here.run("feeds", *arguments)
    assert ended.returncode in (1, 2) and told in ended.stderr
    assert "Traceback" not in ended.stderr and ended.stderr.count("\n") == 1


def test_the_service_follows_the_feeds_of_ioc_feeds(here: Installation, site: HTTPServer, tmp_path: Path) -> None:
    (tmp_path / "feeds").write_text(f"{site.url_for('/feed')} Example Research\n")
    # Whoever waits asks more often than a visitor may.
    here.environment |= {"IOC_FEEDS": str(tmp_path / "feeds"), "IOC_RATE_LIST": "100000/minute"}
    server = here.serve()

    def sources() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = httpx.get(f"{server.address}/api/v1/sources").json()["items"]
        return items

    read = {"name": "Example Research", "state": "well", "article_count": 1, "ioc_count": len(KESTREL)}
    until(lambda: [{name: one[name] for name in read} for one in sources()] == [read], "the feed's article is read")


def test_a_missing_file_of_feeds_ends_the_start_with_a_sentence(here: Installation) -> None:
    here.environment["IOC_FEEDS"] = "/nowhere/feeds"
    ended = here.run("serve", "--port", "0")
    assert ended.returncode == 2
    assert "/nowhere/feeds cannot be read" in ended.stderr and "Traceback" not in ended.stderr
