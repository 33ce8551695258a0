"""Weekly roundups, computed from what a store holds."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from intel.awareness import load_lessons
from intel.errors import NotFound
from intel.records import IOC_TYPES
from intel.store import Store
from intel.weekly import week_id, week_start, weekly
from intel.weekly.computing import compute
from tests.cases import each
from tests.contract.store.builders import hour, make_article, publish

WEEK = "2026-W47"
NOW = hour(80)
LESSONS = load_lessons()


@each(
    ("moment", "id"),
    [
        ("2026-11-16T00:00:00", "2026-W47"),
        ("2026-11-22T23:59:59.999", "2026-W47"),
        ("2026-11-23T00:00:00", "2026-W48"),
        ("2027-01-03T12:00:00", "2026-W53"),
        ("2024-12-30T00:00:00", "2025-W01"),
    ],
)
def test_a_week_begins_on_monday_and_carries_its_iso_number(moment: str, id: str) -> None:
    when = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert week_id(when) == id
    assert week_start(id) <= when < week_start(id) + timedelta(days=7)


@each(
    "id",
    [
        "",
        "2026",
        "2026-47",
        "2026-W7",
        "2026-W00",
        "2026-W54",
        "2025-W53",
        "0000-W01",
        "0001-W01",
        "9999-W52",
        "２-W01",
    ],
)
def test_what_is_no_week_is_not_found(id: str) -> None:
    with pytest.raises(NotFound):
        week_start(id)


async def test_counts_hold_what_was_seen_in_the_week_and_what_was_new(store: Store) -> None:
    await publish(store, make_article("before", at=-100, source="One"), "domain old.example", "ip 203.0.113.9")
    await publish(store, make_article("a", at=1, source="One"), "domain old.example", "domain new.example")
    await publish(store, make_article("b", at=2, source="Two"), "domain new.example", "malware Emotet")
    body = (await weekly(store, WEEK, LESSONS, NOW)).body
    assert (body["counts"]["articles"], body["counts"]["sources"]) == (2, 2)
    assert set(body["counts"]["iocs"]) == set(IOC_TYPES)
    assert {type: n for type, n in body["counts"]["iocs"].items() if n} == {"domain": 2, "malware": 1}
    assert {type: n for type, n in body["counts"]["new_iocs"].items() if n} == {"domain": 1, "malware": 1}
    assert body["trend"]["articles"] == {"previous": 1, "delta": 1, "pct": 100.0}
    assert body["trend"]["iocs_total"] == {"previous": 2, "delta": 1, "pct": 50.0}
    assert body["trend"]["new_iocs_total"] == {"previous": 2, "delta": 0, "pct": 0.0}
    assert body["trend"]["iocs"]["ip"] == {"previous": 1, "delta": -1, "pct": -100.0}
    assert body["trend"]["iocs"]["malware"] == {"previous": 0, "delta": 1, "pct": None}


async def test_the_first_week_has_no_trend(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    assert (await weekly(store, WEEK, LESSONS, NOW)).body["trend"] is None


async def test_the_most_reported_stand_on_top(store: Store) -> None:
    for n, source in enumerate(("One", "Two", "Three")):
        values = ["domain three.example", "cve CVE-2024-3400", "mitre_attack T1566.001", "malware Emotet"]
        await publish(store, make_article(f"a{n}", at=n, source=source), *values[: 4 - n], "domain all.example")
    body = (await weekly(store, WEEK, LESSONS, NOW)).body
    assert [row["value"] for row in body["top_iocs"]] == ["all.example", "three.example"]
    assert body["top_iocs"][0] | {"type": "domain", "articles": 3, "sources": 3, "new": True} == body["top_iocs"][0]
    assert [row["value"] for row in body["top_cves"]] == ["CVE-2024-3400"]
    assert [row["value"] for row in body["top_malware"]] == ["Emotet"]
    assert [row["value"] for row in body["top_techniques"]] == ["T1566.001"]
    assert body["lesson"] is not None and body["lesson"]["slug"] in {lesson.slug for lesson in LESSONS}
    assert len(body["top_articles"]) == 3


async def test_copies_of_one_text_are_one_source(store: Store) -> None:
    for n, source in enumerate(("One", "Two")):
        await publish(store, make_article(f"a{n}", at=n, source=source, cluster="same"), "domain a.example")
    body = (await weekly(store, WEEK, LESSONS, NOW)).body
    assert (body["counts"]["articles"], body["counts"]["sources"]) == (2, 1)
    assert body["top_iocs"][0]["sources"] == 1


@pytest.mark.promise("weekly.revision-rises")
async def test_the_same_articles_give_the_same_revision_and_a_late_one_the_next(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    first = await weekly(store, WEEK, LESSONS, NOW)
    assert first.revision == 1
    assert await weekly(store, WEEK, LESSONS, NOW + timedelta(hours=1)) == first
    await publish(store, make_article("late", at=3), "domain b.example")
    second = await weekly(store, WEEK, LESSONS, NOW + timedelta(hours=2))
    assert (second.revision, second.body["counts"]["articles"]) == (2, 2)
    assert await store.weeks.get(WEEK, 1) == first


@pytest.mark.promise("weekly.revision-rises")
async def test_a_late_article_of_the_week_before_changes_the_trend(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    await weekly(store, WEEK, LESSONS, NOW)
    await publish(store, make_article("late", at=-100), "domain a.example")
    second = await weekly(store, WEEK, LESSONS, NOW)
    assert second.revision == 2
    assert second.body["counts"]["new_iocs"]["domain"] == 0
    assert second.body["trend"]["articles"] == {"previous": 1, "delta": 0, "pct": 0.0}


@pytest.mark.promise("weekly.revision-rises")
async def test_an_article_that_changed_recomputes_its_week(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    await weekly(store, WEEK, LESSONS, NOW)
    await publish(store, make_article("a", at=1, title="Corrected"), "domain b.example")
    body = (await weekly(store, WEEK, LESSONS, NOW)).body
    assert [row["value"] for row in body["top_iocs"]] == ["b.example"]
    assert body["top_articles"][0]["title"] == "Corrected"


async def test_a_week_closes_when_it_is_over(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    assert (await weekly(store, WEEK, LESSONS, NOW)).body["status"] == "open"
    closed = await weekly(store, WEEK, LESSONS, week_start("2026-W48"))
    assert (closed.body["status"], closed.revision) == ("closed", 2)


async def test_a_week_without_articles_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await weekly(store, WEEK, LESSONS, NOW)


async def test_many_that_ask_at_once_get_one_revision(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    weeks = await asyncio.gather(*(weekly(store, WEEK, LESSONS, NOW) for _ in range(8)))
    assert {(week.revision, week.basis) for week in weeks} == {(1, weeks[0].basis)}


@pytest.mark.promise("remove.exact")
async def test_a_week_that_is_computed_while_an_article_is_removed_does_not_tell_of_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = await publish(store, make_article("gone", title="Poisoned"), "domain gone.example")
    await publish(store, make_article("kept", at=1), "domain kept.example")
    loop = asyncio.get_running_loop()

    def compute_late(*given: Any) -> dict[str, Any]:
        asyncio.run_coroutine_threadsafe(store.articles.remove(gone.id), loop).result()
        return compute(*given)

    monkeypatch.setattr("intel.weekly.compute", compute_late)
    told = await weekly(store, WEEK, LESSONS, NOW)
    assert told.body["counts"]["articles"] == 1
    for revision in range(1, told.revision + 1):
        kept = await store.weeks.get(WEEK, revision)
        assert kept is not None and "Poisoned" not in str(kept.body)
