"""Focus: severity by the first rule that matches, from what independent sources wrote lately."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from intel.focus import RULES, SEVERITIES, focus_items
from intel.store import Store
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import hour, make_article, publish


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = SqliteStore(tmp_path / "store.db")
    await opened.setup()
    yield opened
    await opened.close()


async def write(store: Store, indicator: str, *sources: str, at: float = 0, cluster: str | None = None) -> None:
    for n, source in enumerate(sources):
        name = f"{indicator} {source} {at}".replace(" ", "-")
        await publish(store, make_article(name, at=at + n / 100, source=source, cluster=cluster), indicator)


@pytest.mark.promise("focus.list")
async def test_severity_rises_with_independent_sources(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One")
    await write(store, "cve CVE-2024-0002", "One", "Two")
    await write(store, "cve CVE-2024-0003", "One", "Two", "Three")
    items = await focus_items(store, hour(1))
    assert [(item["key"], item["severity"], item["rule"]) for item in items] == [
        ("CVE-2024-0003", "medium", "M4"),
        ("CVE-2024-0002", "low", "L1"),
    ]


@pytest.mark.promise("focus.list")
async def test_copies_of_one_text_raise_nothing(store: Store) -> None:
    await write(store, "malware Emotet", "One", "Two", "Three", cluster="same")
    assert await focus_items(store, hour(1)) == []


async def test_only_cves_and_malware_come_into_focus(store: Store) -> None:
    for indicator in ("domain evil.example", "ip 203.0.113.9", "mitre_attack T1566"):
        await write(store, indicator, "One", "Two", "Three")
    await write(store, "malware Emotet", "One", "Two")
    assert [item["id"] for item in await focus_items(store, hour(1))] == ["f_malware_Emotet"]


async def test_what_was_last_seen_long_ago_is_no_longer_in_focus(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One", "Two")
    assert len(await focus_items(store, hour(0) + timedelta(days=13))) == 1
    assert await focus_items(store, hour(1) + timedelta(days=14)) == []


@pytest.mark.promise("records.focus-members")
async def test_an_item_says_why_with_its_evidence(store: Store) -> None:
    await write(store, "cve CVE-2024-0001", "One", "Two", at=1)
    (item,) = await focus_items(store, hour(2))
    assert "2 independent sources" in item["reason"]
    assert (item["evidence"]["sources"], item["evidence"]["articles"]) == (2, 2)
    assert item["evidence"]["newest_article"]["title"] == "A loader report"
    assert item["first_seen"] <= item["last_seen"]


def test_rules_stand_from_the_most_severe_to_the_least() -> None:
    order = [SEVERITIES.index(rule.severity) for rule in RULES]
    assert order == sorted(order)
    assert len({rule.id for rule in RULES}) == len(RULES)
