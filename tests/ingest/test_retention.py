"""Letting go of old articles, on both engines."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from ingest.retention import Retention
from intel.records import Week
from intel.store import Store
from tests.contract.store.builders import hour, listed, make_article, publish, the_ioc


@pytest.mark.promise("operations.retention")
async def test_old_articles_are_archived_and_go_and_counts_follow(stores: tuple[Store, Store], tmp_path: Path) -> None:
    store, _ = stores
    old = await publish(store, make_article("old"), "domain old.example", "domain both.example")
    await publish(store, make_article("edge", at=24), "domain edge.example")
    await publish(store, make_article("new", at=400), "domain both.example")
    told = Week("2026-W47", 1, "basis", hour(1001), {"counts": 3})
    await store.weeks.add(told)
    retention = Retention(store, 10, tmp_path / "archive", lambda: hour(24) + timedelta(days=10))
    assert await retention.expire() == 1
    assert sorted(await listed(store)) == ["both.example", "edge.example"]
    assert (await the_ioc(store, "domain both.example")).sightings == 1
    assert await store.weeks.get("2026-W47") == told
    (line,) = (tmp_path / "archive" / "2026-W47.ndjson").read_text().splitlines()
    kept = json.loads(line)
    assert (kept["article"]["id"], kept["article"]["text"]) == (old.id, "What the loader did.")
    assert [one["value"] for one in kept["sightings"]] == ["old.example", "both.example"]
    assert await retention.expire() == 0


async def test_nothing_goes_where_the_archive_cannot_be_written(stores: tuple[Store, Store], tmp_path: Path) -> None:
    store, _ = stores
    await publish(store, make_article("old"), "domain old.example")
    (tmp_path / "archive").write_text("a file in the way")
    retention = Retention(store, 10, tmp_path / "archive", lambda: hour(1_000))
    with pytest.raises(OSError):
        await retention.expire()
    assert await listed(store) == ["old.example"]
