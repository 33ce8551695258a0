"""`/sources`: the health and the yield of feeds."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest.feed_lists import ListedFeed, new_feed
from ingest.fetch import FetchAllow
from intel.records import Feed
from tests.api.running import NOON, Running, running


async def follow(api: Running, name: str, url: str = "", **change: Any) -> Feed:
    listed = ListedFeed(url or f"https://{name.lower()}.example/feed?key=secret", name)
    # Due far in the future, so that the service lets it be.
    later = datetime(2990, 1, 1, tzinfo=NOON.tzinfo)
    feed = replace(new_feed(listed, FetchAllow(), NOON), next_poll_at=later, **change)
    assert await api.store.feeds.add(feed)
    return feed


async def test_a_source_tells_its_health_and_its_yield(api: Running) -> None:
    await follow(api, "Alpha", last_polled_at=NOON, last_success_at=NOON)
    await api.publish("one", "domain a.example", "domain b.example", source="Alpha")
    await api.publish("two", "domain a.example", source="Alpha")
    await api.publish("else", "domain c.example", source="Beta")
    (item,) = await api.items("/sources")
    assert (item["name"], item["state"], item["article_count"], item["ioc_count"]) == ("Alpha", "well", 2, 2)
    assert (item["last_success_at"], item["last_error"], item["failures"]) == ("2026-11-20T12:00:00Z", None, 0)


async def test_the_state_of_a_source_is_one_word(api: Running) -> None:
    await follow(api, "A")
    await follow(api, "B", enabled=False, failures=2)
    await follow(api, "C", failures=2, last_success_at=NOON, last_error="The site answered 503 (Service Unavailable).")
    await follow(api, "D", failures=1, ended_at=NOON, last_error="The site answered 410 (Gone).")
    items = await api.items("/sources")
    assert [item["state"] for item in items] == ["waiting", "off", "failing", "ended"]
    assert items[2]["last_error"] == "The site answered 503 (Service Unavailable)."
    assert [item["next_poll_at"] is None for item in items] == [False, True, False, True]


async def test_an_address_is_shown_without_its_query(api: Running) -> None:
    await follow(api, "Alpha")
    answer = await api.get("/sources")
    assert answer.json()["items"][0]["url"] == "https://alpha.example/feed"
    assert "secret" not in answer.text


async def test_sources_come_by_name_page_after_page(api: Running) -> None:
    key = await api.key()
    for name in ("Delta", "Alpha", "Charlie", "Bravo"):
        await follow(api, name)
    names, cursor = [], None
    for _ in range(3):
        page = (await api.get("/sources", key, limit=2, **({"cursor": cursor} if cursor else {}))).json()
        names += [item["name"] for item in page["items"]]
        cursor = page["next_cursor"]
        assert page["total"] == (4 if len(names) == 2 else None)
        if cursor is None:
            break
    assert names == ["Alpha", "Bravo", "Charlie", "Delta"]
    assert (await api.get("/sources", limit=1)).json()["next_cursor"] is None
    assert (await api.get("/sources", limit=0)).status_code == 422


async def test_without_feeds_there_are_no_sources(api: Running) -> None:
    assert (await api.get("/sources")).json() == {"items": [], "limit": 20, "total": 0, "next_cursor": None}


async def test_metrics_tell_of_every_feed_that_is_followed(tmp_path: Path) -> None:
    async with running(tmp_path, address="198.51.100.7", ioc_metrics_allow="198.51.100.0/24") as api:
        await follow(api, 'Al"pha', "https://alpha.example/feed", last_success_at=NOON, failures=0)
        beta = await follow(api, "Beta", failures=3)
        await follow(api, "Off", enabled=False)
        await api.publish("one", "domain a.example", "domain b.example", source="Beta")
        told = (await api.client.get("/metrics")).text
        assert 'ioc_feed_last_success_timestamp_seconds{feed="Al\\"pha"} 1.79' in told
        assert 'ioc_feed_failures{feed="Beta"} 3.0' in told
        assert 'ioc_feed_records{feed="Beta",kind="iocs"} 2.0' in told
        assert "Off" not in told
        await api.store.feeds.remove(beta.id)
        assert "Beta" not in (await api.client.get("/metrics")).text
