"""`/weekly`, `/focus`, `/awareness`."""

from __future__ import annotations

import pytest

from intel.records import IOC_TYPES
from tests.api.running import Running

_TWO_WEEKS = 14 * 24


@pytest.mark.promise("weekly.list", "records.weekly-members")
async def test_weeks_with_articles_are_listed_newest_first(api: Running) -> None:
    await api.publish("now", "domain a.example", "cve CVE-2024-3400", at=1)
    await api.publish("before", "domain a.example", at=-24 * 7)
    await api.publish("long ago", "domain a.example", at=-24 * 70)
    answer = (await api.get("/weekly")).json()
    assert [item["id"] for item in answer["items"]] == ["2026-W47", "2026-W46", "2026-W37"]
    assert answer["total"] == 3
    week = answer["items"][0]
    assert (week["starts_on"], week["ends_on"], week["status"]) == ("2026-11-16", "2026-11-22", "open")
    assert (week["counts"]["articles"], week["counts"]["sources"]) == (1, 1)
    assert set(week["counts"]["iocs"]) == set(week["counts"]["new_iocs"]) == set(IOC_TYPES)
    assert (week["counts"]["iocs"]["domain"], week["counts"]["new_iocs"]["domain"]) == (1, 0)
    assert (week["counts"]["iocs"]["cve"], week["counts"]["new_iocs"]["cve"]) == (1, 1)
    assert week["trend"]["articles"] == {"previous": 1, "delta": 0, "pct": 0.0}
    assert week["trend"]["iocs"]["cve"] == {"previous": 0, "delta": 1, "pct": None}
    assert (week["year"], week["week"]) == (2026, 47)
    assert answer["items"][1]["status"] == "closed"


@pytest.mark.promise("weekly.by-week", "weekly.revision-rises")
async def test_a_late_article_recomputes_its_week(api: Running) -> None:
    await api.publish("first", "domain a.example", at=-24 * 7)
    before = (await api.get("/weekly/2026-W46")).json()
    assert before["revision"] == 1
    assert (await api.get("/weekly/2026-W46")).json() == before
    await api.publish("late", "domain b.example", at=-24 * 6)
    after = (await api.get("/weekly/2026-W46")).json()
    assert (after["revision"], after["counts"]["articles"]) == (2, 2)


@pytest.mark.promise("weekly.revision-rises")
async def test_a_week_is_not_computed_anew_for_what_happens_elsewhere(api: Running) -> None:
    await api.publish("first", "domain a.example", at=-24 * 14)
    await api.get("/weekly/2026-W45")
    await api.publish("much later", "domain a.example", at=0)
    assert (await api.get("/weekly/2026-W45")).json()["revision"] == 1


@pytest.mark.promise("weekly.by-week")
async def test_a_week_without_articles_is_not_there(api: Running) -> None:
    await api.publish("first", "domain a.example")
    assert (await api.get("/weekly/2026-W46")).status_code == 404


@pytest.mark.promise("focus.list", "records.focus-members")
async def test_what_several_sources_write_about_is_in_focus(api: Running) -> None:
    for n, source in enumerate(("One", "Two", "Three")):
        await api.publish(source, "cve CVE-2024-3400", "malware Emotet" if n else "malware Zeus", source=source, at=n)
    answer = (await api.get("/focus")).json()
    assert [(item["key"], item["severity"]) for item in answer["items"]] == [
        ("CVE-2024-3400", "medium"),
        ("Emotet", "low"),
    ]
    assert all({"id", "key", "title", "severity", "reason", "evidence"} <= set(item) for item in answer["items"])
    assert answer["total"] == 2


@pytest.mark.promise("focus.severity")
async def test_focus_can_be_narrowed_to_a_severity(api: Running) -> None:
    for source in ("One", "Two"):
        await api.publish(source, "cve CVE-2024-3400", source=source)
    assert len(await api.items("/focus", severity="low")) == 1
    for severity in ("critical", "high", "medium"):
        assert await api.items("/focus", severity=severity) == []
    for severity in ("urgent", "LOW", "low,urgent"):
        assert (await api.get("/focus", severity=severity)).status_code == 422


@pytest.mark.promise("focus.list", "cursor.walk-once")
async def test_a_walk_through_focus_goes_on_though_its_last_item_is_gone(api: Running) -> None:
    key = await api.key()
    for n in range(6):
        for source in ("One", "Two"):
            await api.publish(f"{n}{source}", f"cve CVE-2026-{1000 + n}", source=source, at=-n)
    first = (await api.get("/focus", key, limit=3)).json()
    assert [item["key"] for item in first["items"]] == ["CVE-2026-1000", "CVE-2026-1001", "CVE-2026-1002"]
    for source in ("One", "Two"):
        await api.publish(f"2{source}", "domain corrected.example", source=source, at=-2)
    second = (await api.get("/focus", key, cursor=first["next_cursor"])).json()
    assert [item["key"] for item in second["items"]] == ["CVE-2026-1003", "CVE-2026-1004", "CVE-2026-1005"]


@pytest.mark.promise("focus.list")
async def test_what_nobody_wrote_about_lately_leaves_the_focus(api: Running) -> None:
    for source in ("One", "Two"):
        await api.publish(source, "cve CVE-2024-3400", source=source)
    api.clock.forward(_TWO_WEEKS * 3600)
    assert await api.items("/focus") == []


@pytest.mark.promise("awareness.list", "records.lesson-members")
async def test_lessons_are_listed_and_searched(api: Running) -> None:
    answer = (await api.get("/awareness", limit=50)).json()
    assert answer["total"] == len(answer["items"]) > 5
    assert all(
        {"slug", "title", "summary", "body_markdown", "topic", "tips", "techniques"} <= set(item)
        for item in answer["items"]
    )
    found = await api.items("/awareness", q="phishing")
    assert 0 < len(found) <= 10
    assert await api.items("/awareness", q="qwertzuiop") == []


@pytest.mark.promise("awareness.by-slug")
async def test_one_lesson_is_read_by_its_slug(api: Running) -> None:
    for lesson in await api.items("/awareness", limit=50):
        assert (await api.get(f"/awareness/{lesson['slug']}")).json() == lesson | {"topical": []}


@pytest.mark.promise("awareness.list")
async def test_lessons_are_narrowed_to_a_topic(api: Running) -> None:
    found = await api.items("/awareness", topic="mfa")
    assert {lesson["topic"] for lesson in found} == {"mfa"} and len(found) >= 2
    assert (await api.get("/awareness", topic="cooking")).status_code == 422
    key = await api.key()
    first = (await api.get("/awareness", key, topic="mfa", limit=1)).json()
    second = (await api.get("/awareness", key, cursor=first["next_cursor"])).json()
    assert [item["slug"] for item in (*first["items"], *second["items"])] == [lesson["slug"] for lesson in found]


@pytest.mark.promise("awareness.topical")
async def test_a_lesson_names_the_recent_articles_that_share_its_techniques(api: Running) -> None:
    slug = "managers-thank-the-reporter"  # about T1566 and T1204, whole families
    old = await api.publish("old", "mitre_attack T1566", at=-24 * 23)
    one = await api.publish("one", "mitre_attack T1566.002", "mitre_attack T1204", "mitre_attack T1486", at=1)
    two = await api.publish("two", "mitre_attack T1566.002", at=2)
    await api.publish("older", "mitre_attack T1566", at=-24 * 26)
    await api.publish("to come", "mitre_attack T1566", at=24 * 30)
    await api.publish("other", "mitre_attack T1486", at=3)
    topical = (await api.get(f"/awareness/{slug}")).json()["topical"]
    assert [(found["article"]["id"], found["techniques"]) for found in topical] == [
        (two.id, ["T1566.002"]),
        (one.id, ["T1204", "T1566.002"]),
        (old.id, ["T1566"]),
    ]
    assert topical[0]["article"]["title"] == two.title


@pytest.mark.promise("awareness.topical")
async def test_a_lesson_names_ten_articles_at_most(api: Running) -> None:
    for n in range(15):
        await api.publish(f"a{n}", "mitre_attack T1621", at=n)
    topical = (await api.get("/awareness/push-prompts-you-did-not-start")).json()["topical"]
    assert [found["article"]["url"][-3:] for found in topical][:2] == ["a14", "a13"] and len(topical) == 10
