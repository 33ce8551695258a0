"""Focus computed from stored articles and imported catalogues."""

from __future__ import annotations

from datetime import timedelta

import pytest

from intel.focus import Focus
from intel.records import Sighting
from intel.store import Store
from tests.contract.store.builders import hour, make_article, publish
from tests.intel.catalogues.importing import epss_file, nvd_file, put, put_kev
from tests.intel.focus.writing import focus_items, one, rules, write

DAY = 24.0


@pytest.mark.promise("focus.list")
async def test_severity_rises_with_independent_sources(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One")
    await write(store, "cve CVE-2024-0002", "One", "Two")
    await write(store, "cve CVE-2024-0003", "One", "Two", "Three")
    assert [(item["key"], item["severity"]) for item in await focus_items(store, hour(1))] == [
        ("CVE-2024-0003", "medium"),
        ("CVE-2024-0002", "low"),
    ]


@pytest.mark.promise("focus.list")
async def test_copies_of_one_text_raise_nothing(store: Store) -> None:
    await write(store, "malware Emotet", "One", "Two", "Three", cluster="same")
    assert await focus_items(store, hour(1)) == []


async def test_cves_malware_and_techniques_come_into_focus_and_nothing_else(store: Store) -> None:
    for indicator in ("domain evil.example", "ip 203.0.113.9", "mitre_attack T1566"):
        await write(store, indicator, "One", "Two", "Three")
    await write(store, "malware Emotet", "One", "Two")
    found = {item["id"]: item["title"] for item in await focus_items(store, hour(1))}
    assert found == {"f_malware_Emotet": "Emotet: A loader report", "f_technique_T1566": "T1566: Phishing"}


@pytest.mark.promise("focus.catalogues")
async def test_catalogues_raise_what_a_single_article_names(store: Store) -> None:
    for n in range(1, 6):
        await write(store, f"cve CVE-2024-000{n}", "One")
    assert await rules(store) == {}
    await put_kev(store, hour(1), {"CVE-2024-0001": "2026-11-15", "CVE-2024-0002": "2024-01-01"})
    await put(store, "epss", hour(1), epss_file({"CVE-2024-0003": 0.5, "CVE-2024-0004": 0.49}))
    assert await rules(store) == {"CVE-2024-0001": "C1", "CVE-2024-0002": "H1", "CVE-2024-0003": "H4"}
    await put_kev(store, hour(1), {"CVE-2024-0002": "2024-01-01"}, ransomware="Known")
    assert (await rules(store))["CVE-2024-0002"] == "C1"


@pytest.mark.promise("focus.catalogues")
async def test_a_catalogues_score_comes_before_one_that_an_article_states(store: Store) -> None:
    says = {"exploitation": "in_the_wild", "quote": "It is exploited.", "cvss": {"score": 9.8}}
    await write(store, "cve CVE-2024-0001", "One", "Two", says=says)
    item = await one(store)
    assert (item["rule"], item["evidence"]["cvss"]["source"]) == ("C2", "article")
    await put(store, "cvss", hour(1), nvd_file({"CVE-2024-0001": 6.5}))
    item = await one(store)
    assert (item["rule"], item["evidence"]["cvss"]["score"]) == ("H2", 6.5)


@pytest.mark.promise("focus.catalogues", "focus.missing-data")
async def test_catalogues_of_other_cves_change_nothing(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One", "Two")
    before = await one(store)
    await put_kev(store, hour(1), {"CVE-2024-9999": "2026-11-15"})
    after = await one(store)
    assert after == before and after["evidence"]["kev"] is None and after["evidence"]["epss"] is None


@pytest.mark.promise("records.focus-members", "focus.explained")
async def test_an_item_says_why_with_its_evidence(store: Store) -> None:
    says = {"exploitation": "in_the_wild", "quote": "It is exploited.", "cvss": {"score": 9.8, "version": "3.1"}}
    await write(
        store, "cve CVE-2024-0001", "One", at=1, says=says, beside=("domain evil.example", "mitre_attack T1190")
    )
    await write(store, "cve CVE-2024-0001", "Two", at=2, beside=("domain evil.example", "ip 203.0.113.9"))
    await put_kev(store, hour(100), {"CVE-2024-0001": "2026-11-16"}, ransomware="Known")
    item = await one(store, 3)
    assert item["reason"] == (
        "In CISA KEV since 2026-11-16, ransomware use known; exploited in the wild according to One; "
        "2 independent sources in 14 days; CVSS 9.8."
    )
    evidence = item["evidence"]
    assert evidence["kev"]["listed"] is True and evidence["kev"]["as_of"].startswith("2026-11-19")
    assert (evidence["exploitation"]["level"], evidence["exploitation"]["quote"]) == (
        "kev_confirmed",
        "It is exploited.",
    )
    assert evidence["sources"] == {"count": 2, "names": ["One", "Two"], "domains": ["news.example"]}
    assert evidence["articles"]["count"] == 2
    assert item["related_iocs"] == [
        {"type": "domain", "value": "evil.example"},
        {"type": "ip", "value": "203.0.113.9"},
    ]
    assert item["techniques"] == ["T1190"]
    assert [article["source_name"] for article in item["articles"]] == ["Two", "One"]
    assert item["score"] == sum(item["score_parts"].values()) <= 100


async def test_new_indicators_near_a_malware_raise_it(store: Store) -> None:
    near = tuple(Sighting("domain", f"d{n}.example", "", ("Emotet",), n) for n in range(9))
    await write(store, "malware Emotet", "One", "Two", "Three", "Four", beside=near)
    assert (await one(store))["rule"] == "H5"
    await write(store, "malware Emotet", "One", at=0.5, beside=(Sighting("ip", "203.0.113.9", "", ("Emotet",)),))
    item = await one(store)
    assert (item["rule"], item["evidence"]["new_iocs"]) == ("C3", 10)
    assert {"type": "ip", "value": "203.0.113.9"} in item["related_iocs"]


async def test_indicators_that_were_known_before_are_not_new(store: Store) -> None:
    known = Sighting("domain", "old.example", "", ("Emotet",))
    await publish(store, make_article("before", at=-20 * DAY), "domain old.example")
    await write(store, "malware Emotet", "One", "Two", "Three", beside=(known,))
    assert (await one(store))["rule"] == "M4"


@pytest.mark.promise("focus.history")
async def test_the_history_is_replayed_from_what_happened_when(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One", "Two", at=-10 * DAY)
    await write(store, "cve CVE-2024-0001", "Three", at=-9 * DAY)
    await put_kev(store, hour(1), {"CVE-2024-0001": "2026-11-14"})
    item = await one(store)
    assert [(change["at"][:10], change["from"], change["to"], change["rule"]) for change in item["history"]] == [
        ("2026-11-06", None, "low", "L1"),
        ("2026-11-07", "low", "medium", "M4"),
        ("2026-11-14", "medium", "critical", "C1"),
    ]
    assert item["changed_at"] == "2026-11-14T00:00:00Z"
    again = await one(store)
    assert again == item


@pytest.mark.promise("focus.history")
async def test_what_was_last_seen_long_ago_grows_stale_then_closed_then_is_gone(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One", "Two")
    focus = Focus(store)
    last = hour(0.01)
    for days, status in ((13.9, "active"), (14.1, "stale"), (27.9, "stale"), (28.1, "closed"), (40, "closed")):
        (item,) = await focus.items(await focus.standings(last + timedelta(days=days)))
        assert (item["status"], item["severity"], item["evidence"]["sources"]["count"]) == (status, "low", 2), days
    assert item["history"][-1]["to"] is None
    assert await focus.standings(last + timedelta(days=60)) == ()


async def test_one_too_few_sources_close_what_articles_still_name(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One")
    await write(store, "cve CVE-2024-0001", "Two", at=5 * DAY)
    (standing,) = await Focus(store).standings(hour(15 * DAY))
    assert standing.status == "closed"


async def test_focus_is_computed_anew_only_where_it_may_differ(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One", "Two")
    focus = Focus(store)
    first = await focus.standings(hour(1))
    assert await focus.standings(hour(2)) is first
    await write(store, "cve CVE-2024-0001", "Three", at=2)
    second = await focus.standings(hour(3))
    assert second[0].severity == "medium"
    await put_kev(store, hour(3), {"CVE-2024-0001": "2026-11-14"})
    assert (await focus.standings(hour(3)))[0].severity == "critical"


@pytest.mark.promise("focus.list")
async def test_order_is_severity_then_score_then_change(store: Store) -> None:
    await write(store, "malware Emotet", "One", "Two", at=0)
    await write(store, "malware Qakbot", "One", "Two", at=1)
    await write(store, "cve CVE-2024-0003", "One", "Two", "Three", at=0)
    await write(store, "mitre_attack T1566", "One", "Two", "Three", "Four", at=0)
    assert [item["key"] for item in await focus_items(store, hour(3))] == [
        "T1566", "CVE-2024-0003", "Qakbot", "Emotet",
    ]  # fmt: skip
