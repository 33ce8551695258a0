from __future__ import annotations

import csv
import io

import pytest

from intel.records import Sighting
from tests.api.running import Running
from tests.api.web.reading import Page, Reader
from tests.cases import each
from tests.intel.catalogues.importing import put_kev


async def fill(api: Running, number: int, type: str = "domain") -> None:
    await api.publish("many", *(f"{type} host{n:03}.evil.example" for n in range(number)), title="A loader report")


def shown(page: Page) -> list[str]:
    return [" ".join(a.text_content().split()) for a in page.tree.xpath("//main//a[@class='value']")]


async def test_a_search_shows_values_defanged_and_links_them_to_their_pages(api: Running, visitor: Reader) -> None:
    await api.publish("report", "domain login-kestrel.example")
    page = await visitor.open("/search?q=kestrel")
    assert page.links()["login-kestrel[.]example"] == "/ioc/domain/login-kestrel.example"
    assert "1 indicator for kestrel" in page.text
    assert page.tree.xpath("//main//*[@role='status']")


async def test_without_words_the_newest_indicators_are_listed(api: Running, visitor: Reader) -> None:
    await api.publish("old", "domain old.example", at=1)
    await api.publish("new", "domain new.example", at=5)
    assert shown(await visitor.open("/search?q=+&type=")) == ["new[.]example", "old[.]example"]


async def test_of_a_very_long_value_a_list_shows_the_beginning_and_its_page_all(api: Running, visitor: Reader) -> None:
    value = "http://long.example/" + "a" * 1_900
    await api.publish("report", f"url {value}")
    for path in ("/search", "/search?q=long", "/"):
        page = await visitor.open(path)
        (link,) = (a for a in page.tree.xpath("//main//a[@class='value']") if "/ioc/url/" in a.get("href"))
        assert len(link.text_content().strip()) == 160 and "a" * 1_900 in link.get("title"), path
    assert "a" * 1_900 in page.tree.xpath("//a[@class='value']")[0].get("href")
    (copied,) = (await visitor.open("/search")).tree.xpath("//tbody//button/@data-copy")
    assert copied.endswith("a" * 1_900)
    assert (await visitor.open(link.get("href"))).heading.endswith("a" * 1_900)


async def test_types_are_counted_whatever_type_is_chosen(api: Running, visitor: Reader) -> None:
    await api.publish("report", "domain a.evil.example", "domain b.evil.example", "ip 192.0.2.1")
    page = await visitor.open("/search?type=ip")
    facets = page.links("//nav[@class='facets']")
    assert list(facets) == ["All types 3", "IP 1", "Domain 2"]
    assert facets["Domain 2"] == "/search?type=domain"
    assert shown(page) == ["192[.]0[.]2[.]1"]


async def test_dates_and_source_narrow_a_search(api: Running, visitor: Reader) -> None:
    await api.publish("monday", "domain monday.example", at=0, source="First Blog")
    await api.publish("thursday", "domain thursday.example", at=72, source="Second Blog")
    assert shown(await visitor.open("/search?since=2026-11-18")) == ["thursday[.]example"]
    assert shown(await visitor.open("/search?until=2026-11-16")) == ["monday[.]example"]
    assert shown(await visitor.open("/search?source=Second+Blog")) == ["thursday[.]example"]


@each(
    "query",
    ["type=phone", "since=yesterday", "limit=0", "limit=-1", "limit=ten", "q=%00", "q=" + "x" * 513, "limit=²"],
)
async def test_a_question_that_makes_no_sense_gets_a_page_that_says_so(visitor: Reader, query: str) -> None:
    page = await visitor.open(f"/search?{query}")
    assert page.status == 422
    assert page.heading == "Invalid request"


async def test_nothing_found_tells_how_to_find_more(visitor: Reader) -> None:
    page = await visitor.open("/search?q=nothing")
    assert page.status == 200
    assert "No matches" in page.text


async def test_a_visitor_sees_ten_results_of_a_search_and_fifty_of_a_list(api: Running, visitor: Reader) -> None:
    await fill(api, 60)
    assert len(shown(await visitor.open("/search?q=evil&limit=50"))) == 10
    page = await visitor.open("/search?limit=500")
    assert len(shown(page)) == 50
    assert "sign in to see the next page" in page.text


async def test_a_member_pages_through_everything_once(api: Running, member: Reader) -> None:
    await fill(api, 60)
    page = await member.open("/search?q=evil&limit=25")
    seen = shown(page)
    while "Next page" in page.links():
        page = await member.open(page.links()["Next page"])
        seen += shown(page)
    assert len(seen) == len(set(seen)) == 60


async def test_the_place_in_one_search_is_none_in_another(api: Running, member: Reader) -> None:
    await fill(api, 30)
    address = (await member.open("/search?q=evil&limit=20")).links()["Next page"]
    assert (await member.open(address.replace("q=evil", "q=other"))).status == 422
    assert (await member.open("/search?cursor=made-up")).status == 422


async def test_what_is_found_is_exported_within_the_readers_cap(api: Running, visitor: Reader, member: Reader) -> None:
    await fill(api, 60)
    address = (await visitor.open("/search?q=evil")).links()["CSV"]
    answer = (await visitor.open(address)).answer
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert len(list(csv.reader(io.StringIO(answer.text)))) == 11
    assert len((await member.open(address)).answer.text.splitlines()) == 51
    stix = (await member.open(address.replace("csv", "stix"))).answer.json()
    assert stix["type"] == "bundle"
    assert "host000.evil.example" in (await member.open(address.replace("csv", "txt"))).answer.text


@pytest.mark.promise("formats.csv-guard")
async def test_an_exported_cell_is_no_formula(api: Running, visitor: Reader) -> None:
    await api.publish("report", "domain evil.example", title="=cmd|'/C calc'!A0")
    rows = list(csv.DictReader(io.StringIO((await visitor.open("/search?format=csv")).answer.text)))
    assert rows[0]["article_title"].startswith("'=")


async def test_the_box_keeps_what_was_asked(visitor: Reader) -> None:
    page = await visitor.open('/search?q="><script>window.xss=1</script>')
    assert page.tree.xpath("//input[@type='search']/@value") == ['"><script>window.xss=1</script>']
    assert not page.tree.xpath("//script[not(@src)]")


@pytest.mark.slow
async def test_a_list_is_a_table_until_cards_are_asked_for(api: Running, visitor: Reader) -> None:
    await api.publish("report", "domain evil.example", "malware Emotet", source="Shipyard Blog", title="The shipyards")
    page = await visitor.open("/search?q=evil")
    heads = [th.text_content().strip() for th in page.tree.xpath("//table//thead//th")]
    assert heads[1:] == ["Type", "Value", "Malware", "Status", "Sources", "First seen", "Last seen", "Article"]
    assert page.tree.xpath("string(//table//th//mark)") == "evil" and not page.tree.xpath("//span[@class='why']")
    assert page.links("//table")["evil[.]example"] == "/ioc/domain/evil.example"
    cards = await visitor.submit(page, "/display", view="cards")
    assert cards.path == "/search?q=evil"
    assert cards.tree.xpath("string(//span[@class='why'])") == "value contains “evil”"
    assert not cards.tree.xpath("//table") and cards.tree.xpath("//ol[@class='hits']")
    assert not (await visitor.open("/search")).tree.xpath("//table")
    assert (await visitor.post("/display", {"view": "clouds"})).status == 422


async def test_the_words_that_a_search_met_are_marked_in_the_value_and_leave_it_whole(
    api: Running, visitor: Reader
) -> None:
    await api.publish("report", "url http://evil.example/EVIL/a?b=<evil>", title="The shipyards")
    page = await visitor.open("/search?q=evil")
    (value,) = page.tree.xpath("//table//a[@class='value']")
    assert value.text_content() == "hxxp://evil[.]example/EVIL/a?b=<evil>"
    assert [mark.text for mark in value.xpath(".//mark")] == ["evil", "EVIL", "evil"]


async def test_a_cve_bears_its_name_in_lists_graphs_and_on_other_pages(api: Running, visitor: Reader) -> None:
    await put_kev(api.store, api.clock(), {"CVE-2024-3400": "2026-11-17"})
    await api.publish(
        "report", "cve CVE-2024-3400", "domain evil.example", text="APT29 used CVE-2024-3400.", title="APT29"
    )
    name = "Example Gateway Command Injection"
    for path in ("/", "/search", "/ioc/domain/evil.example", "/graph/domain/evil.example", "/actor/APT29"):
        assert name in (await visitor.open(path)).text, path


async def test_values_are_shown_raw_on_every_page_once_that_is_chosen(api: Running, visitor: Reader) -> None:
    await api.publish("report", "url https://evil.example/a")
    page = await visitor.post("/display", {"values": "raw", "next": "/search"})
    assert shown(page) == ["https://evil.example/a"]
    assert shown(await visitor.open("/")) == ["https://evil.example/a"]
    assert shown(await visitor.post("/display", {"values": "defanged", "next": "/search"})) == [
        "hxxps://evil[.]example/a"
    ]


async def test_ticked_rows_come_as_text_and_files_in_the_order_of_the_page(api: Running, visitor: Reader) -> None:
    await api.publish("report", "domain evil.example", "ip 192.0.2.1", "domain other.example")
    page = await visitor.open("/search")
    ticks = dict(zip(shown(page), page.tree.xpath("//table//input[@name='id']/@value"), strict=True))
    chosen = f"/selection?id={ticks['evil[.]example']}&id={ticks['192[.]0[.]2[.]1']}"
    assert (await visitor.open(f"{chosen}&format=defanged")).answer.text == "evil[.]example\n192[.]0[.]2[.]1\n"
    assert (await visitor.open(f"{chosen}&format=txt")).answer.text == "evil.example\n192.0.2.1\n"
    assert len((await visitor.open(f"{chosen}&format=csv")).answer.text.splitlines()) == 3
    assert (await visitor.open(f"{chosen}&format=stix")).answer.json()["type"] == "bundle"
    assert "Event" in (await visitor.open(f"{chosen}&format=misp")).answer.json()
    for wrong in ("/selection", f"{chosen}&format=exe", "/selection?" + "&".join(f"id={n}" for n in range(101))):
        assert (await visitor.open(wrong)).status == 422


async def test_filters_narrow_and_heads_sort(api: Running, visitor: Reader, member: Reader) -> None:
    beside = Sighting("ip", "198.51.100.7", "Emotet.", ("Emotet",))
    await api.publish("one", "domain both.test", "ip 8.8.8.8", beside, source="First Blog", at=1)
    await api.publish("two", "domain both.test", "domain late.test", source="Second Blog", at=50)
    assert shown(await visitor.open("/search?min_sources=2")) == ["both[.]test"]
    assert shown(await visitor.open("/search?malware=emotet")) == ["198[.]51[.]100[.]7"]
    assert shown(await visitor.open("/search?type=domain&status=expired")) == []
    page = await visitor.open("/search?type=domain")
    assert shown(page) == ["both[.]test", "late[.]test"] or shown(page) == ["late[.]test", "both[.]test"]
    by_sources = await visitor.open(page.links("//thead")["Sources"])
    assert shown(by_sources) == ["both[.]test", "late[.]test"]
    assert by_sources.tree.xpath("//th[@aria-sort='descending']")[0].text_content().strip() == "Sources"
    narrowed = await visitor.open(page.links("//nav[@aria-label='Leave out']")["warned"])
    assert "exclude=warned" in narrowed.path
    assert (await visitor.open("/search")).tree.xpath("//th[@aria-sort]")[0].text_content().strip() == "Last seen"
    assert not (await visitor.open("/search?q=evil")).tree.xpath("//th[@aria-sort]")
    for wrong in ("status=old", "sort=name", "exclude=all", "min_sources=0"):
        assert (await visitor.open(f"/search?{wrong}")).status == 422
    await fill(api, 30)
    first = await member.open("/search?limit=20&status=active&sort=first_seen")
    assert (await member.open(first.links()["Next page"])).status == 200
