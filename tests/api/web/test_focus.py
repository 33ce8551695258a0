"""The page that says what needs attention."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.web.pages.focus import evidence
from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.contract.store.builders import make_article, publish
from tests.intel.catalogues.importing import put_kev


@pytest.mark.promise("focus.explained")
async def test_focus_says_why_something_needs_attention(api: Running, visitor: Reader) -> None:
    for name in ("First Blog", "Second Blog", "Third Blog"):
        await api.publish(name.replace(" ", "-"), "cve CVE-2024-3400", source=name)
    page = await visitor.open("/focus")
    assert page.links()["CVE-2024-3400"] == "/ioc/cve/CVE-2024-3400"
    assert "Why this severity" in page.text and "3 independent sources" in page.text
    assert "M4 (medium): 3 or more independent sources write of it. Matches." in page.text
    assert "28 = severity 25 + sources 3 + kev 0" in page.text
    assert "CVE-2024-3400" not in (await visitor.open("/focus?severity=low")).text
    assert "CVE-2024-3400" in (await visitor.open("/focus?severity=low,medium")).text
    for asked in ("severity=awful", "status=awful", "severity=low,awful"):
        assert (await visitor.open(f"/focus?{asked}")).status == 422


async def test_what_articles_say_is_shown_as_text(api: Running, visitor: Reader) -> None:
    said = {"CVE-2024-3400": {"exploitation": "in_the_wild", "quote": "<script>alert(1)</script>"}}
    article = replace(make_article("a", title="<b>bold</b>", source="<i>me</i>"), findings=said)
    await publish(api.store, article, "cve CVE-2024-3400")
    page = await visitor.open("/focus")
    assert "<script>alert(1)</script>" in page.text and "according to <i>me</i>" in page.text
    assert not page.tree.xpath("//main//script | //main//b | //main//i")


async def test_what_is_no_longer_in_focus_is_shown_where_it_is_asked_for(api: Running, visitor: Reader) -> None:
    await put_kev(api.store, api.clock(), {"CVE-2024-3400": "2026-11-17"})
    await api.publish("a", "cve CVE-2024-3400")
    assert "CVE-2024-3400" not in (await visitor.open("/focus?status=stale")).text
    api.clock.forward(15 * 86400)
    assert "CVE-2024-3400" not in (await visitor.open("/focus")).text
    assert "CVE-2024-3400" in (await visitor.open("/focus?status=stale")).text


@pytest.mark.promise("catalogues.shown")
async def test_pages_tell_the_day_of_each_catalogue(api: Running, visitor: Reader) -> None:
    assert "No catalogue imported" in (await visitor.open("/focus")).text
    await put_kev(api.store, api.clock(), {"CVE-2024-3400": "2026-11-17"})
    for path in ("/focus", "/status"):
        page = await visitor.open(path)
        assert "KEV" in page.text and "19 Nov 2026" in page.text


@pytest.mark.promise("catalogues.facts")
async def test_a_cve_shows_what_catalogues_say_of_it(api: Running, visitor: Reader) -> None:
    await api.publish("a", "cve CVE-2024-3400", "cve CVE-2026-1111")
    await put_kev(api.store, api.clock(), {"CVE-2024-3400": "2026-11-17"})
    page = await visitor.open("/ioc/cve/CVE-2024-3400")
    assert "Known exploited" in page.text and "2026-11-17" in page.text
    assert "Known exploited" not in (await visitor.open("/ioc/cve/CVE-2026-1111")).text


def test_evidence_is_told_in_pairs_of_words() -> None:
    members = {
        "sources": {"count": 3, "domains": ["a.example", "b.example"]},
        "kev": {"listed": True, "date_added": "2026-11-18", "due_date": None},
        "epss": None,
    }
    assert list(evidence(members)) == [
        ("sources count", "3"),
        ("sources domains", "a.example, b.example"),
        ("kev listed", "yes"),
        ("kev date added", "2026-11-18"),
    ]
