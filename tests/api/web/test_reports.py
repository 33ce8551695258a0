from __future__ import annotations

from dataclasses import replace

import pytest

from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.cases import each
from tests.contract.store.builders import make_article, publish
from tests.intel.weekly.test_telling import put_kev


async def test_a_week_tells_what_its_articles_come_to(api: Running, visitor: Reader) -> None:
    await api.publish("before", "domain old.example", at=-100)
    await api.publish("report", "domain evil.example", "malware Emotet", "cve CVE-2024-3400", title="Kestrel")
    page = await visitor.open("/weekly")
    assert page.links()["Week 47 of 2026"] == "/weekly/2026-W47"
    page = await visitor.open("/weekly/2026-W47")
    assert {"Kestrel", "Emotet", "CVE-2024-3400", "evil[.]example", "2026-W46"} <= set(page.links())
    assert "+2 (+200 %)" in page.text and "Changes are against the week before." in page.text


async def test_a_week_without_articles_is_a_404(visitor: Reader) -> None:
    for week in ("2026-W01", "2026-W60", "now", "..%2Fsecret"):
        assert (await visitor.open(f"/weekly/{week}")).status == 404


async def test_the_first_page_shows_what_is_new_and_what_needs_attention(api: Running, visitor: Reader) -> None:
    for name in ("First Blog", "Second Blog"):
        await api.publish(name.replace(" ", "-"), "malware Emotet", source=name, title=f"From {name}")
    links = (await visitor.open("/")).links()
    assert {"Emotet", "From First Blog", "From Second Blog"} <= set(links)


async def test_an_empty_service_has_a_first_page_too(visitor: Reader) -> None:
    page = await visitor.open("/")
    assert page.status == 200 and "No indicators yet" in page.text


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
    assert "All systems operational" in (await visitor.open("/status")).text
    assert "http://ioc.example/api/v1" in (await visitor.open("/help")).text
    assert '"SERVICE_BASE_URL": "http://ioc.example"' in (await visitor.open("/help/mcp")).text
    assert (await visitor.client.get("/docs")).headers["location"] == "/api/v1/docs"


@pytest.mark.promise("weekly.revisions")
async def test_an_earlier_revision_of_a_week_is_shown_as_such(api: Running, visitor: Reader) -> None:
    for n in range(3):
        await api.publish(f"a{n}", f"domain d{n}.example", at=n)
        await visitor.open("/weekly/2026-W47")
    page = await visitor.open("/weekly/2026-W47")
    assert "revision 3" in page.text and page.links()["revision 1"] == "/weekly/2026-W47?revision=1"
    page = await visitor.open("/weekly/2026-W47?revision=1")
    assert "This is what revision 1 said" in page.text and "d2[.]example" not in page.text
    assert page.links()["The current one is revision 3"] == "/weekly/2026-W47"
    assert (await visitor.open("/weekly/2026-W47?revision=9")).status == 404
    for revision in ("x", "-1", "1" * 40, "²"):
        assert (await visitor.open(f"/weekly/2026-W47?revision={revision}")).status == 422


@pytest.mark.promise("weekly.catalogues")
async def test_a_week_shows_what_catalogues_and_articles_say_of_its_cves(api: Running, visitor: Reader) -> None:
    findings = {"CVE-2024-3400": {"exploitation": "in_the_wild", "cvss": {"score": 9.3, "version": "4.0"}}}
    article = replace(make_article("one", at=1), findings=findings)
    await publish(api.store, article, "cve CVE-2024-3400", "cve CVE-2026-1111")
    assert {"9.3", "in the wild"} <= set((await visitor.open("/weekly/2026-W47")).tree.xpath("//td/text()"))
    await put_kev(api.store, api.clock(), CVE_2026_1111="2026-11-17")
    page = await visitor.open("/weekly/2026-W47")
    assert "Added to the KEV catalogue CVE-2026-1111" in page.text and "KEV confirmed" in page.text


@pytest.mark.promise("atom.valid")
@each(
    ("path", "feed"),
    [
        ("/weekly", "/api/v1/weekly.atom"),
        ("/weekly/2026-W47", "/api/v1/weekly.atom"),
        ("/focus?severity=low", "/api/v1/focus.atom?severity=low"),
        ("/articles?q=loader&source=One", "/api/v1/articles.atom?q=loader&source=One"),
        ("/search?q=a%26b%22&type=domain", "/api/v1/iocs.atom?q=a%26b%22&type=domain"),
    ],
)
async def test_pages_tell_where_their_feed_is(api: Running, visitor: Reader, path: str, feed: str) -> None:
    await api.publish("a", "domain a.example")
    page = await visitor.open(path)
    assert page.tree.xpath("//head/link[@type='application/atom+xml']/@href") == [feed]
    assert (await visitor.client.get(feed)).status_code == 200


@pytest.mark.promise("awareness.topical")
async def test_a_lesson_shows_the_articles_that_make_it_topical(api: Running, visitor: Reader) -> None:
    await api.publish("a", "mitre_attack T1621", title="Prompts at night <b>")
    page = await visitor.open("/awareness/push-prompts-you-did-not-start")
    assert {"Prompts at night <b>", "T1621"} <= set(page.links("//section[@aria-labelledby='topical']"))
    assert "Why now" not in (await visitor.open("/awareness/three-copies")).text


async def test_a_week_names_its_techniques(api: Running, visitor: Reader) -> None:
    await api.publish("a", "mitre_attack T1566.001", "malware Emotet")
    page = await visitor.open("/weekly/2026-W47")
    (row,) = page.tree.xpath("//section[@aria-labelledby='techniques']//tbody/tr/th")
    assert row.text_content().split() == ["T1566.001", "Spearphishing", "Attachment"]
