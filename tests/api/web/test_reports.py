from __future__ import annotations

from api.web.pages.reports import evidence
from tests.api.running import Running
from tests.api.web.reading import Reader


async def test_a_week_tells_what_its_articles_come_to(api: Running, visitor: Reader) -> None:
    await api.publish("before", "domain old.example", at=-100)
    await api.publish("report", "domain evil.example", "malware Emotet", "cve CVE-2024-3400", title="Kestrel")
    page = await visitor.open("/weekly")
    assert page.links()["Week 47 of 2026"] == "/weekly/2026-W47"
    page = await visitor.open("/weekly/2026-W47")
    assert {"Kestrel", "Emotet", "CVE-2024-3400", "evil[.]example", "2026-W46"} <= set(page.links())
    assert "+2 on the week before" in page.text


async def test_a_week_without_articles_is_a_404(visitor: Reader) -> None:
    for week in ("2026-W01", "2026-W60", "now", "..%2Fsecret"):
        assert (await visitor.open(f"/weekly/{week}")).status == 404


async def test_focus_says_why_something_needs_attention(api: Running, visitor: Reader) -> None:
    for name in ("First Blog", "Second Blog", "Third Blog"):
        await api.publish(name.replace(" ", "-"), "cve CVE-2024-3400", source=name)
    page = await visitor.open("/focus")
    assert page.links()["CVE-2024-3400"] == "/ioc/cve/CVE-2024-3400"
    assert "Why this severity" in page.text and "3 independent sources" in page.text
    assert "CVE-2024-3400" not in (await visitor.open("/focus?severity=low")).text
    assert (await visitor.open("/focus?severity=awful")).status == 422


async def test_the_first_page_shows_what_is_new_and_what_needs_attention(api: Running, visitor: Reader) -> None:
    for name in ("First Blog", "Second Blog"):
        await api.publish(name.replace(" ", "-"), "malware Emotet", source=name, title=f"From {name}")
    links = (await visitor.open("/")).links()
    assert {"Emotet", "From First Blog", "From Second Blog"} <= set(links)


async def test_an_empty_service_has_a_first_page_too(visitor: Reader) -> None:
    page = await visitor.open("/")
    assert page.status == 200 and "Nothing yet" in page.text


async def test_lessons_are_listed_searched_and_read(visitor: Reader) -> None:
    page = await visitor.open("/awareness?q=backup")
    assert page.links()["Three copies, two kinds, one elsewhere"] == "/awareness/three-copies"
    page = await visitor.open("/awareness/three-copies")
    assert page.tree.xpath("//div[@class='prose']/h2 | //div[@class='prose']/p")
    assert (await visitor.open("/awareness?topic=backups")).status == 200
    assert (await visitor.open("/awareness?topic=cooking")).status == 422
    assert (await visitor.open("/awareness/no-such-lesson")).status == 404


async def test_status_and_help_know_the_readers_own_address(api: Running, visitor: Reader) -> None:
    await api.publish("a", "domain a.example")
    assert "The store answers" in (await visitor.open("/status")).text
    assert "http://ioc.example/api/v1" in (await visitor.open("/help")).text
    assert '"SERVICE_BASE_URL": "http://ioc.example"' in (await visitor.open("/help/mcp")).text
    assert (await visitor.client.get("/docs")).headers["location"] == "/api/v1/docs"


def test_evidence_is_told_in_pairs_of_words() -> None:
    members = {
        "sources": 3,
        "kev": {"listed": True, "date_added": "2026-11-18", "due_date": None},
        "domains": ["a.example", "b.example"],
        "newest_article": {"id": "1", "title": "shown as a link"},
    }
    assert list(evidence(members)) == [
        ("sources", "3"),
        ("kev listed", "yes"),
        ("kev date added", "2026-11-18"),
        ("domains", "a.example, b.example"),
    ]
