from __future__ import annotations

from dataclasses import replace

import pytest

from intel.records import Article, Sighting
from tests.api.running import Running
from tests.api.web.reading import Page, Reader
from tests.contract.store.builders import make_article, publish

TEXT = "It used login-kestrel[.]example and hxxps://cdn[.]kestrel[.]example/gate.php. Emotet came by CVE-2024-3400."
NAMED = (
    "domain login-kestrel.example",
    "url https://cdn.kestrel.example/gate.php",
    "domain cdn.kestrel.example",
    "malware Emotet",
    "cve CVE-2024-3400",
)


def marked(page: Page) -> dict[str, str]:
    return {a.text_content(): a.get("href") for a in page.tree.xpath("//a[contains(@class, 'found')]")}


async def test_an_article_has_its_indicators_marked_in_its_text(api: Running, visitor: Reader) -> None:
    article = await api.publish("report", *NAMED, text=TEXT, title="Kestrel")
    page = await visitor.open(f"/articles/{article.id}")
    assert page.heading == "Kestrel"
    assert TEXT in page.text
    assert marked(page) == {
        "login-kestrel[.]example": "/ioc/domain/login-kestrel.example",
        "hxxps://cdn[.]kestrel[.]example/gate.php": "/ioc/url/https%3A%2F%2Fcdn.kestrel.example%2Fgate.php",
        "Emotet": "/ioc/malware/Emotet",
        "CVE-2024-3400": "/ioc/cve/CVE-2024-3400",
    }


async def test_what_is_no_indicator_of_the_article_is_not_marked(api: Running, visitor: Reader) -> None:
    article = await api.publish("report", "cve CVE-2024-3400", text=TEXT)
    assert list(marked(await visitor.open(f"/articles/{article.id}"))) == ["CVE-2024-3400"]


async def test_an_article_is_shown_as_it_was_written(api: Running, visitor: Reader) -> None:
    text = "Report\n1. run\nHost\nevil[.]example\nIt was quick.\nThe end."
    blocks = "[[0,1,[0,6]],[3,1,[10,13]],[4,1,[14,18],[19,33]],[6,0,[34,47]],[1,0,[48,56]]]"
    article = replace(make_article("report", text=text, title="report"), structure=blocks)
    await publish(api.store, article, "domain evil.example")
    page = await visitor.open(f"/articles/{article.id}")
    (words,) = page.tree.xpath("//div[@class='words']")
    assert [(one.tag, one.text_content()) for one in words.iter("h2", "ol", "th", "td", "blockquote", "p")] == [
        ("ol", "run"),
        ("th", "Host"),
        ("td", "evil[.]example"),
        ("blockquote", "It was quick."),
        ("p", "It was quick."),
        ("p", "The end."),
    ]
    assert marked(page) == {"evil[.]example": "/ioc/domain/evil.example"}


@pytest.mark.parametrize("before", ["", "Threat report\n\n", "Threat report\n\nBy the Kestrel team\n\n"])
async def test_the_title_is_not_repeated_in_the_text(api: Running, visitor: Reader, before: str) -> None:
    text = f"{before}# Kestrel is back\n\nIt uses evil[.]example.\n\n## Hosts\n\n- evil[.]example\n"
    article = make_article("report", text=text, title="Kestrel is back")
    await publish(api.store, article, "domain evil.example")
    (words,) = (await visitor.open(f"/articles/{article.id}")).tree.xpath("//div[@class='words']")
    assert [one.text_content() for one in words.iter("h1", "h2", "h3")] == ["Hosts"]
    assert all(line in words.text_content() for line in before.split("\n"))


async def test_an_article_leads_to_its_source_and_to_nothing_that_is_no_web_page(api: Running, visitor: Reader) -> None:
    article = await api.publish("report")
    link = (await visitor.open(f"/articles/{article.id}")).tree.xpath("//main//a[contains(., 'Open the original')]")[0]
    assert link.get("href") == "https://news.example/report"
    assert set(link.get("rel").split()) == {"noopener", "noreferrer", "nofollow"}


@pytest.mark.slow
async def test_a_long_text_comes_in_parts_and_nothing_is_lost(api: Running, visitor: Reader) -> None:
    words = [f"word{n}" for n in range(30_000)]
    article = await api.publish("report", text=" ".join(words))
    page, read = await visitor.open(f"/articles/{article.id}"), ""
    while True:
        read += page.tree.xpath("string(//div[@class='words'])")
        if "Next part of the text" not in page.links():
            break
        page = await visitor.open(page.links()["Next part of the text"])
    assert read.split() == words


async def test_a_text_of_one_word_comes_in_parts_too(api: Running, visitor: Reader) -> None:
    article = await api.publish("report", text="x" * 1_000_000)
    page = await visitor.open(f"/articles/{article.id}")
    assert "Next part of the text" in page.links()
    assert len(page.answer.text) < 100_000


async def test_articles_are_listed_searched_and_narrowed_to_a_source(api: Running, visitor: Reader) -> None:
    await api.publish("a", title="About kestrels", source="First Blog", at=1)
    await api.publish("b", title="About curlews", source="Second Blog", at=2)
    titles = [a.text_content() for a in (await visitor.open("/articles")).tree.xpath("//p[@class='headline']/a")]
    assert titles == ["About curlews", "About kestrels"]
    found = (await visitor.open("/articles?q=kestrels")).links()
    assert "About kestrels" in found and "About curlews" not in found
    assert "About kestrels" not in (await visitor.open("/articles?source=Second+Blog")).links()


async def test_a_member_pages_through_all_articles(api: Running, member: Reader) -> None:
    for number in range(25):
        await api.publish(f"a{number}", title=f"Report {number}", at=number)
    page = await member.open("/articles")
    assert "Report 24" in page.links() and "Report 0" not in page.links()
    page = await member.open(page.links()["Next page"])
    assert "Report 0" in page.links() and "Next page" not in page.links()


async def test_an_unknown_article_is_a_404(visitor: Reader) -> None:
    for id in ("1", "a" * 36, "../secret", "%F0%9F%A6%85" * 9):
        assert (await visitor.open(f"/articles/{id}")).status == 404


async def test_the_indicators_of_an_article_are_exported(api: Running, visitor: Reader) -> None:
    article = await api.publish("report", *NAMED)
    page = await visitor.open(f"/articles/{article.id}")
    assert len((await visitor.open(page.links()["Plain list"])).answer.text.splitlines()) == len(NAMED)


async def hostile(api: Running) -> Article:
    """Everything that a stranger can write, at its worst."""
    evil = '<script>window.xss=1</script>"><img src=x onerror=window.xss=1>'
    title, text = f"Curlew {evil}\u202egnp\u200b", f"{evil} evil-curlew[.]net \u202e"
    article = make_article("evil", title=title, source=evil, summary=evil, text=text)
    article = replace(article, url="javascript:window.xss=1", author=evil, notes=(evil,))
    sightings = [
        Sighting("domain", "evil-curlew.net", evil, (evil,), 0),
        Sighting("url", "http://evil-curlew.net/\"><svg/onload=window.xss=1>'", evil, (), 1),
        Sighting("malware", evil, evil, (), 2),
    ]
    return await publish(api.store, article, *sightings)


@pytest.mark.slow
@pytest.mark.promise("promises.hostile-article-is-data")
async def test_whatever_an_article_says_is_text_on_every_page(api: Running, member: Reader) -> None:
    article = await hostile(api)
    pages = {"/", "/search", "/search?q=curlew", "/articles", f"/articles/{article.id}", "/weekly", "/weekly/2026-W47"}
    pages |= {"/sources", "/focus", *(await member.open(f"/articles/{article.id}")).links().values()}
    for path in sorted(path for path in pages if path.startswith("/") and "format=" not in path):
        page = await member.open(path)
        assert page.status == 200, path
        assert not page.tree.xpath("//script[not(@src)] | //img | //@onerror | //@onload"), path
        addresses = page.tree.xpath("//@href | //@src | //@action")
        assert not [address for address in addresses if address.lower().lstrip().startswith("javascript:")], path
        assert not any(c in page.answer.text for c in "\u202e\u200b"), path


@pytest.mark.slow
async def test_a_member_pages_through_the_indicators_of_a_long_article(
    api: Running, visitor: Reader, member: Reader
) -> None:
    values = [f"d{n}.example" for n in range(400)]
    text = "\n".join(["It asked d0[.]example and d399[.]example.", "See other[.]example."])
    await api.publish("other", "domain other.example")
    article = await api.publish("long", *(f"domain {value}" for value in values), text=text)
    first = await visitor.open(f"/articles/{article.id}")
    listed = first.tree.xpath("//aside//a[@class='value']")
    assert [a.text_content().replace("[.]", ".") for a in listed] == values[:250]
    # What the text names is marked, wherever it stands in the list; what only others name is not.
    assert {a.text_content() for a in first.tree.xpath("//a[contains(@class, 'found')]")} == {
        "d0[.]example",
        "d399[.]example",
    }
    assert "Next page" not in first.links() and "sign in" in first.links()
    page = await member.open(f"/articles/{article.id}")
    page = await member.open(page.links()["Next page"])
    listed = page.tree.xpath("//aside//a[@class='value']")
    assert [a.text_content().replace("[.]", ".") for a in listed] == values[250:]
    assert "Next page" not in page.links() and "From the first indicator" in page.links()


async def test_many_indicators_of_a_type_are_folded_and_the_rest_is_a_link(api: Running, visitor: Reader) -> None:
    hosts = [f"domain host-{number:03}.kestrel.example" for number in range(300)]
    article = await api.publish("long", *hosts, "cve CVE-2024-3400", text="A list.")
    page = await visitor.open(f"/articles/{article.id}")
    (folded,) = page.tree.xpath("//aside//section/details")
    assert folded.xpath("string(summary)") == "Show 240 more" and len(folded.xpath(".//a")) == 240
    assert len(page.tree.xpath("//aside//section/ul/li")) == 10
    assert page.links()["All 300, and why"] == f"/articles/{article.id}/weighed?verdict=kept&type=domain"
    assert page.links()["All 1, and why"] == f"/articles/{article.id}/weighed?verdict=kept&type=cve"


async def test_a_long_article_has_a_table_of_contents_that_leads_to_every_part(api: Running, visitor: Reader) -> None:
    parts = [f"## Wave {n}\n\n" + "They moved on. " * 1500 for n in range(1, 7)]
    text = "\n\n".join(["# Long report", "```", "# no heading", "```", *parts])
    article = await api.publish("long", text=text, title="Long report")
    page = await visitor.open(f"/articles/{article.id}")
    listed = page.tree.xpath("//details[contains(@class, 'contents')]//a")
    assert [link.text_content() for link in listed] == [f"Wave {n}" for n in range(1, 7)]
    here = page.tree.xpath("//h2[text()='Wave 1' or .//*[text()='Wave 1']]")[0]
    assert listed[0].get("href") == f"#{here.get('id')}"
    address = listed[5].get("href")
    assert address.startswith(f"/articles/{article.id}?from=")
    last = await visitor.open(address)
    (heading,) = last.tree.xpath("//div[@class='words']//h2")
    assert heading.text_content() == "Wave 6" and address.endswith(f"#{heading.get('id')}")
    again = last.tree.xpath("//details[contains(@class, 'contents')]//a")
    assert [link.text_content() for link in again] == [f"Wave {n}" for n in range(1, 7)]
    assert again[5].get("href") == f"#{heading.get('id')}"


async def test_a_contents_of_many_headings_leaves_out_the_deeper_ones(api: Running, visitor: Reader) -> None:
    text = "\n\n".join(f"## Wave {n}\n\n" + "\n\n".join(f"### Step {m}\n\nIt ran." for m in range(9)) for n in range(6))
    article = await api.publish("deep", text=text)
    page = await visitor.open(f"/articles/{article.id}")
    listed = page.tree.xpath("//details[contains(@class, 'contents')]//a")
    assert [link.text_content() for link in listed] == [f"Wave {n}" for n in range(6)]


async def test_rows_of_a_table_are_filled_up_to_its_columns(api: Running, visitor: Reader) -> None:
    text = "Host Role File\nevil[.]example C2"
    blocks = "[[4,1,[0,4,5,9,10,14],[15,29,30,32]]]"
    article = replace(make_article("report", text=text), structure=blocks)
    await publish(api.store, article, "domain evil.example")
    page = await visitor.open(f"/articles/{article.id}")
    rows = page.tree.xpath("//div[@class='words']//tr")
    assert [[cell.text_content() for cell in row] for row in rows] == [
        ["Host", "Role", "File"],
        ["evil[.]example", "C2", ""],
    ]


async def test_a_list_of_many_lines_comes_in_parts(api: Running, visitor: Reader) -> None:
    lines = [f"host-{number}.kestrel.example" for number in range(650)]
    article = await api.publish("lines", text="\n".join(lines))
    address, read, parts = f"/articles/{article.id}", "", 0
    while address:
        page = await visitor.open(address)
        read, parts = read + "".join(page.tree.xpath("//div[@class='words']//text()")), parts + 1
        address = page.links().get("Next part of the text", "")
    assert parts == 2 and read.split() == lines


async def test_a_summary_does_not_say_the_title_again(api: Running, visitor: Reader) -> None:
    article = make_article("titled", title="Curlew returns", summary="= Curlew returns The loader is back.")
    await publish(api.store, article)
    page = await visitor.open("/articles")
    assert [one.text_content() for one in page.tree.xpath("//p[@class='summary']")] == ["The loader is back."]


async def test_front_matter_is_not_shown_as_text(api: Running, visitor: Reader) -> None:
    text = f'---\ntitle: "Kestrel"\ndate: 2026-11-18\n---\n\n# Kestrel\n\n{TEXT}\n'
    article = await api.publish("report", *NAMED, text=text, title="Kestrel")
    page = await visitor.open(f"/articles/{article.id}")
    assert TEXT in page.text and "date:" not in page.text
    assert "/ioc/malware/Emotet" in marked(page).values()
    plain = await api.publish("plain", text="---\nNothing but a rule.\n---\nAnd text.", title="Rule")
    assert "Nothing but a rule." in (await visitor.open(f"/articles/{plain.id}")).text
