"""What a week tells beside its counts: trends, rows, catalogues, words, and its lesson."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import orjson
import pytest

from intel.awareness import load_lessons
from intel.catalogues.facts import Epss, Kev, write
from intel.catalogues.parts import split
from intel.errors import NotFound
from intel.records import Catalogue, Sighting
from intel.store import Store
from intel.weekly import week_revision, week_start, weekly
from tests.contract.store.builders import hour, make_article, publish

WEEK = "2026-W47"
NOW = hour(80)
LONG_AFTER = hour(24 * 60)
LESSONS = load_lessons()


async def told(store: Store, now: datetime = NOW, id: str = WEEK) -> dict[str, Any]:
    return (await weekly(store, id, LESSONS, now)).body


async def put_kev(store: Store, as_of: datetime, **added: str) -> None:
    entries = {
        cve.replace("_", "-"): write(Kev(date.fromisoformat(day), None, False, "", cve, "", ""))
        for cve, day in added.items()
    }
    await store.catalogues.put(Catalogue("kev", as_of, as_of, "kev.json", len(entries)), split(entries))


@pytest.mark.promise("weekly.counts")
async def test_only_the_first_week_of_all_has_no_trend(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain a.example")
    assert (await told(store))["trend"] is None
    await publish(store, make_article("long ago", at=-24 * 40), "domain b.example")
    body = await told(store)
    assert body["trend"]["articles"] == {"previous": 0, "delta": 1, "pct": None}
    assert (await weekly(store, WEEK, LESSONS, NOW)).revision == 2


@pytest.mark.promise("weekly.counts")
async def test_a_copy_counts_for_the_source_of_an_original_in_an_earlier_week(store: Store) -> None:
    await publish(store, make_article("original", at=-100, source="One", cluster="same"), "domain a.example")
    await publish(store, make_article("copy", at=1, source="Two", cluster="same"), "domain a.example")
    await publish(store, make_article("own", at=2, source="One"), "domain a.example")
    await publish(store, make_article("bare", at=3, source="Three"))
    body = await told(store)
    assert (body["counts"]["articles"], body["counts"]["sources"]) == (3, 2)
    assert (body["top_iocs"][0]["articles"], body["top_iocs"][0]["sources"]) == (2, 1)
    assert (body["top_iocs"][0]["new"], body["top_iocs"][0]["delta"]) == (False, 1)


@pytest.mark.promise("weekly.top")
async def test_ties_are_broken_by_first_seen_then_value(store: Store) -> None:
    await publish(store, make_article("a", at=1), "domain c.example", "domain b.example")
    await publish(store, make_article("b", at=0), "domain z.example")
    assert [row["value"] for row in (await told(store))["top_iocs"]] == ["z.example", "b.example", "c.example"]


@pytest.mark.promise("weekly.top")
async def test_malware_counts_what_stood_beside_it_and_techniques_what_their_articles_name(store: Store) -> None:
    near = [Sighting("domain", f"d{n}.example", "", ("Emotet",), n) for n in range(3)]
    far, technique = Sighting("ip", "203.0.113.9", "", (), 8), Sighting("mitre_attack", "T1566.002", "", (), 9)
    name = Sighting("malware", "Emotet", "", ("Emotet",), 10)
    await publish(store, make_article("a", at=1), *near, far, technique, name)
    await publish(store, make_article("b", at=2), near[0], name)
    body = await told(store)
    malware, techniques = body["top_malware"][0], body["top_techniques"][0]
    assert (malware["name"], malware["articles"], malware["iocs"]) == ("Emotet", 2, 3)
    assert (techniques["id"], techniques["articles"], techniques["iocs"]) == ("T1566.002", 1, 5)


async def test_of_copies_the_earliest_article_stands_on_top_with_its_reason(store: Store) -> None:
    for n in range(3):
        await publish(store, make_article(f"copy{n}", at=9 - n, cluster="same", title=f"Copy {n}"), "domain a.example")
    await publish(store, make_article("rich", at=1, title="Rich"), *(f"domain d{n}.example" for n in range(9)))
    first, second = (await told(store))["top_articles"]
    assert (first["title"], first["score"]) == ("Rich", 10)
    assert first["reason"] == "It names 9 indicators, 9 of them new."
    assert (second["title"], second["score"]) == ("Copy 2", 4)
    assert second["reason"] == "It names 1 indicator, 1 of them new; 3 copies of its text appeared."


async def test_the_summary_says_the_numbers_and_how_they_changed(store: Store) -> None:
    await publish(store, make_article("a", at=1), *(f"domain d{n}.example" for n in range(4)))
    assert (await told(store))["summary"] == "1 article from 1 independent source named 4 indicators, 4 of them new."
    await publish(store, make_article("b", at=-100), *(f"domain d{n}.example" for n in range(2)))
    await publish(store, make_article("c", at=2, source="Two"), *(f"domain d{n}.example" for n in range(5)))
    body = await told(store)
    assert body["summary"] == (
        "2 articles from 2 independent sources named 5 indicators, 3 of them new (+50 % on 2026-W46)."
    )


@pytest.mark.promise("weekly.catalogues")
async def test_catalogues_say_what_is_known_about_the_cves_of_a_week(store: Store) -> None:
    await publish(store, make_article("a", at=1), "cve CVE-2026-1111", "cve CVE-2026-2222")
    assert [row["kev"] for row in (await told(store))["top_cves"]] == [None, None]
    await put_kev(store, NOW, CVE_2026_1111="2026-11-16", CVE_2026_9999="2026-11-22", CVE_2026_8888="2026-11-23")
    epss = {"CVE-2026-2222": write(Epss(0.42, 0.97))}
    await store.catalogues.put(Catalogue("epss", NOW, NOW, "epss.csv.gz", 1), split(epss))
    body = await told(store)
    rows = {row["id"]: (row["kev"], row["epss"], row["exploitation"]) for row in body["top_cves"]}
    assert rows == {"CVE-2026-1111": (True, None, "kev_confirmed"), "CVE-2026-2222": (False, 0.42, "none")}
    assert body["kev_added"] == ["CVE-2026-1111", "CVE-2026-9999"]
    assert "2 vulnerabilities came into the KEV catalogue." in body["summary"]


@pytest.mark.promise("weekly.catalogues")
async def test_an_old_week_learns_of_a_catalogue_once_and_follows_it_no_more(store: Store) -> None:
    await publish(store, make_article("a", at=1), "cve CVE-2026-1111")
    await told(store, LONG_AFTER)
    await put_kev(store, LONG_AFTER, CVE_2026_1111="2026-11-16")
    assert (await told(store, LONG_AFTER))["top_cves"][0]["kev"] is True
    await put_kev(store, LONG_AFTER + timedelta(days=1), CVE_2026_3333="2026-11-16")
    week = await weekly(store, WEEK, LESSONS, LONG_AFTER)
    assert (week.revision, week.body["top_cves"][0]["kev"]) == (2, True)


async def test_what_articles_say_about_a_cve_is_told_by_its_strongest_word(store: Store) -> None:
    for n, level in enumerate(("poc", "in_the_wild")):
        findings = {"CVE-2026-1111": {"exploitation": level, "cvss": {"score": 7.0 + n, "version": "3.1"}}}
        await publish(store, replace(make_article(f"a{n}", at=n), findings=findings), "cve CVE-2026-1111")
    (row,) = (await told(store))["top_cves"]
    assert (row["exploitation"], row["cvss"]) == ("in_the_wild", 8.0)


@pytest.mark.promise("awareness.topical")
async def test_a_week_names_the_lesson_that_its_techniques_call_for(store: Store) -> None:
    assert LESSONS
    await publish(store, make_article("a", at=1), "domain a.example")
    assert (await told(store))["lesson"] is None
    await publish(store, make_article("b", at=2), "mitre_attack T1621", "mitre_attack T1111", "mitre_attack T1078")
    lesson = (await told(store))["lesson"]
    assert (lesson["id"], lesson["slug"]) == ("push-prompts-you-did-not-start",) * 2
    assert lesson["reason"] == "The week's articles describe T1078, T1111, T1621."


@pytest.mark.promise("weekly.revisions")
async def test_every_revision_stays_as_it_was(store: Store) -> None:
    said = []
    for n in range(4):
        await publish(store, make_article(f"a{n}", at=n), f"domain d{n}.example")
        said.append(await weekly(store, WEEK, LESSONS, NOW + timedelta(minutes=n)))
    assert [week.revision for week in said] == [1, 2, 3, 4]
    for week in said:
        kept = await week_revision(store, WEEK, week.revision)
        assert (kept.generated_at, orjson.dumps(kept.body)) == (week.generated_at, orjson.dumps(week.body))
    for revision in (0, 5):
        with pytest.raises(NotFound):
            await week_revision(store, WEEK, revision)


@pytest.mark.promise("weekly.same-bytes")
async def test_what_changes_nothing_that_is_published_gives_no_revision(store: Store) -> None:
    article = make_article("a", at=1)
    await publish(store, article, "domain a.example")
    first = await weekly(store, WEEK, LESSONS, NOW)
    await publish(store, replace(article, fetched_at=hour(2000)), "domain a.example")
    assert await weekly(store, WEEK, LESSONS, NOW + timedelta(hours=1)) == replace(first)


async def test_the_53rd_week_of_a_year_lies_between_its_neighbours(store: Store) -> None:
    for n, id in enumerate(("2026-W52", "2026-W53", "2027-W01")):
        at = (week_start(id) - hour(0)).total_seconds() / 3600
        await publish(store, make_article(f"begin{n}", at=at), "domain a.example")
        await publish(store, make_article(f"end{n}", at=at + 7 * 24 - 1 / 3_600_000), f"domain d{n}.example")
    for id, new in (("2026-W52", 2), ("2026-W53", 1), ("2027-W01", 1)):
        body = await told(store, hour(24 * 90), id)
        assert (body["counts"]["articles"], body["counts"]["new_iocs"]["domain"]) == (2, new)
        assert (body["year"], body["week"]) == (int(id[:4]), int(id[6:]))
    body = await told(store, hour(24 * 90), "2026-W53")
    assert (body["starts_on"], body["ends_on"]) == ("2026-12-28", "2027-01-03")


@pytest.mark.promise("weekly.counts")
async def test_a_week_tells_what_was_in_focus_at_its_end(store: Store) -> None:
    for n, source in enumerate(("One", "Two", "Three")):
        await publish(store, make_article(f"a{n}", at=n, source=source), "cve CVE-2026-1111", "mitre_attack T1621")
    await publish(store, make_article("alone", at=4, source="One"), "cve CVE-2026-2222")
    await publish(store, make_article("earlier1", at=-100, source="One"), "malware Emotet")
    await publish(store, make_article("earlier2", at=-101, source="Two"), "malware Emotet")
    body = await told(store)
    assert [(item["type"], item["key"], item["severity"]) for item in body["focus"]] == [
        ("cve", "CVE-2026-1111", "medium"),
        ("mitre_attack", "T1621", "medium"),
    ]
    assert body["counts"]["focus"] == {"critical": 0, "high": 0, "medium": 2, "low": 0}
    assert body["trend"]["focus"]["low"] == {"previous": 1, "delta": -1, "pct": -100.0}
    assert "2 subjects in focus, 2 medium." in body["summary"]
    top = body["top_articles"][0]
    assert (top["score"], top["reason"]) == (9, "It names 2 indicators, 2 of them new, and 2 subjects in focus.")


@pytest.mark.promise("weekly.same-bytes")
async def test_what_was_in_focus_does_not_depend_on_when_it_is_asked(store: Store) -> None:
    for n, source in enumerate(("One", "Two")):
        await publish(store, make_article(f"a{n}", at=n, source=source), "cve CVE-2026-1111")
    running = await told(store, hour(3))
    closed = await told(store, LONG_AFTER)
    assert running["focus"] == closed["focus"] != []


@pytest.mark.promise("awareness.topical")
async def test_lessons_that_fit_as_well_take_turns(store: Store) -> None:
    for n in range(4):
        await publish(store, make_article(f"a{n}", at=24 * 7 * n), "mitre_attack T1566.002", "mitre_attack T1204")
    ids = ("2026-W47", "2026-W48", "2026-W49", "2026-W50")
    slugs = [(await told(store, LONG_AFTER, id))["lesson"]["slug"] for id in ids]
    assert len(set(slugs)) > 1
    for lesson in LESSONS:
        if lesson.slug in slugs:
            assert {"T1566", "T1566.002", "T1204"} & set(lesson.techniques)
