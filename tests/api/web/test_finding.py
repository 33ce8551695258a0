"""What pages say of a search: how it was read, why each was found, how results divide, what else was meant."""

from __future__ import annotations

from datetime import timedelta

import pytest

from intel.records import Sighting
from tests.api.running import Running
from tests.api.web.reading import Page, Reader


def shown(page: Page) -> list[str]:
    return [" ".join(a.text_content().split()) for a in page.tree.xpath("//main//a[@class='value']")]


def facets(page: Page, name: str) -> dict[str, str]:
    return page.links(f"//nav[@aria-label='{name}']")


@pytest.mark.promise("iocs.match", "iocs.query-reading")
async def test_a_search_says_how_it_was_read_and_why_each_was_found(api: Running, visitor: Reader) -> None:
    beside = Sighting("ip", "198.51.100.7", "Emotet.", ("Emotet",))
    await api.publish("one", "domain evil.test", "url https://a.evil.test/x", beside, title="How evil.test was used")
    page = await visitor.open("/search?q=evil[.]test")
    assert "Searching domain evil[.]test, including subdomains, URLs and email addresses." in page.text
    why = [" ".join(span.text_content().split()) for span in page.tree.xpath("//span[@class='why']")]
    assert why == ["exact match", "subdomain of evil[.]test", "in the latest article's title"]
    assert "associated with Emotet" in (await visitor.open("/search?q=geodo")).text


@pytest.mark.promise("iocs.facets")
async def test_sources_and_weeks_are_filters_that_can_be_taken_back(api: Running, visitor: Reader) -> None:
    await api.publish("one", "domain one.evil.test", source="Kestrel & Co", at=0)
    await api.publish("two", "domain two.evil.test", "ip 192.0.2.1", source="Agency", at=24 * 7)
    page = await visitor.open("/search")
    assert list(facets(page, "Sources")) == ["Agency 2", "Kestrel & Co 1"]
    assert list(facets(page, "Weeks")) == ["2026-W48 2", "2026-W47 1"]
    of_source = await visitor.open(facets(page, "Sources")["Kestrel & Co 1"])
    assert shown(of_source) == ["one[.]evil[.]test"]
    assert list(facets(of_source, "Sources")) == ["Agency 2", "Kestrel & Co 1"]
    assert len(shown(await visitor.open(facets(of_source, "Sources")["Kestrel & Co 1"]))) == 3
    of_week = await visitor.open(facets(page, "Weeks")["2026-W48 2"])
    assert set(shown(of_week)) == {"two[.]evil[.]test", "192[.]0[.]2[.]1"}
    assert "since=2026-11-23" in of_week.path and "until=2026-11-29" in of_week.path
    assert list(facets(of_week, "Types")) == ["All types 2", "IP 1", "Domain 1"]


@pytest.mark.promise("iocs.suggestions", "iocs.searched")
async def test_nothing_found_says_what_was_meant_and_searched(api: Running, visitor: Reader) -> None:
    await api.publish("one", "malware Emotet", title="Harbour thieves")
    page = await visitor.open("/search?q=emotett")
    assert page.links()["Emotet"] == "/search?q=Emotet"
    assert "Searched: 1 article from 1 source, the newest of 16 Nov 2026." in page.text
    assert "does not mean harmless" in page.text
    assert shown(await visitor.open(page.links()["Emotet"]))
    articles = await visitor.open("/articles?q=harbuor")
    assert articles.links()["harbour"] == "/articles?q=harbour"
    assert "Searched: 1 article from 1 source" in articles.text


@pytest.mark.promise("iocs.searched")
async def test_an_unknown_value_and_a_list_in_vain_say_what_was_searched(
    api: Running, visitor: Reader, member: Reader
) -> None:
    await api.publish("one", "domain evil.test")
    unknown = await visitor.open("/ioc/domain/good.example")
    assert (unknown.status, "Searched: 1 article from 1 source" in unknown.text) == (404, True)
    pasted = await member.submit(await member.open("/bulk"), "/bulk", values="evil.test\ngood.example")
    assert "1 known, 1 not found" in pasted.text and "Searched: 1 article from 1 source" in pasted.text
    pasted = await member.submit(pasted, "/bulk", values="evil.test")
    assert "Searched:" not in pasted.text


@pytest.mark.promise("articles.snippets")
async def test_an_article_search_marks_what_was_met_and_nothing_is_markup(api: Running, visitor: Reader) -> None:
    text = "Nothing. " * 60 + "Then <img src=x onerror=alert(1)> the LOADER came. " + "More. " * 60
    await api.publish("one", title="<script>loader</script>", text=text, source="Loader Daily")
    page = await visitor.open("/articles?q=loader")
    assert [mark.text_content() for mark in page.tree.xpath("//mark")] == ["loader", "LOADER", "Loader"]
    assert not page.tree.xpath("//main//script | //main//img")
    assert "<img src=x onerror=alert(1)>" in page.text
    assert not (await visitor.open("/articles")).tree.xpath("//mark")


@pytest.mark.promise("iocs.warnings", "iocs.status")
async def test_a_page_says_what_speaks_against_an_indicator(api: Running, visitor: Reader) -> None:
    await api.publish("one", "ip 8.8.8.8")
    page = await visitor.open("/ioc/ip/8.8.8.8")
    assert "Caution: a public DNS resolver" in page.text
    assert "active until 16 Dec 2026 unless it is seen again" in page.text
    listed = await visitor.open("/search")
    assert listed.tree.xpath("//span[@class='warned'][contains(@title, 'public DNS resolver')]")
    api.clock.now += timedelta(days=50)
    assert "ageing since 16 Dec 2026, expires 14 Feb 2027" in (await visitor.open("/ioc/ip/8.8.8.8")).text
    api.clock.now += timedelta(days=100)
    assert "expired 14 Feb 2027" in (await visitor.open("/ioc/ip/8.8.8.8")).text
    assert page.tree.xpath("//h1")
    assert "expired" in (await visitor.open("/search")).text


async def test_nothing_found_points_to_what_is_known_nearby(api: Running, visitor: Reader) -> None:
    await api.publish("one", "domain kestrel.test", "ip 198.51.100.7", text="Palo Alto wrote of it.", title="Thieves")
    url = await visitor.open("/search?q=hxxp://cdn.kestrel.test/x")
    assert "Known: Domain kestrel[.]test in 1 article" in url.text
    address = await visitor.open("/ioc/ip/198.51.100.99")
    assert address.links()["1 known address in 198.51.100.0/24"] == "/search?q=198.51.100.0/24"
    words = await visitor.open("/search?q=Palo+Alto")
    assert "Mentioned in Thieves" in words.text and "Did you mean" not in words.text
    assert "Look them all up" in (await visitor.open("/search?q=8.8.8.8+other.test")).links()
    assert "a public DNS resolver" in (await visitor.open("/search?q=8.8.8.8")).text
