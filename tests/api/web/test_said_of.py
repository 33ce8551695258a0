"""What titles and tables say of an indicator."""

from __future__ import annotations

from dataclasses import replace

from ingest.article_text import read_article
from intel.records import Sighting
from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.contract.store.builders import make_article, publish

_PAGE = """<html><body><article><h1>Emotet by post</h1><p>It arrived by post on a Monday, and asked for more.</p>
<table><tr><th>Address</th><th>Role</th><th>File name</th></tr>
<tr><td>198.51.100[.]7:8443</td><td>C2 of the &lt;b&gt;loader</td><td></td></tr>
<tr><td>gale[.]example</td><td>payload</td><td>invoice.iso</td></tr></table>
<p>Nothing else of this kind was seen in the weeks that followed.</p></article></body></html>"""


async def test_an_indicator_has_the_family_of_the_title_and_what_its_row_says(api: Running, visitor: Reader) -> None:
    read = read_article(_PAGE.encode(), "text/html", None, "https://news.example/post")
    article = replace(make_article("post", title=read.title, text=read.text), structure=read.structure)
    await publish(api.store, article, "ip 198.51.100.7", "domain gale.example")
    page = await visitor.open("/ioc/ip/198.51.100.7")
    assert "Associated malware: Emotet (title)" in page.text
    assert "/ioc/malware/Emotet" in (await visitor.open("/search?type=domain")).links().values()
    assert "Port: 8443" in page.text and "Role: C2 of the <b>loader" in page.text and "invoice.iso" not in page.text
    other = await visitor.open("/ioc/domain/gale.example")
    assert "Role: payload File name: invoice.iso" in other.text and "Port:" not in other.text


async def test_a_familys_page_counts_what_is_known_by_titles_as_the_articles_do(api: Running, visitor: Reader) -> None:
    named = ("domain gale.example", "malware Emotet")
    alone = await api.publish("alone", *named, "ip 203.0.113.9", title="Emotet by post", at=3)
    await api.publish("both", *named, title="From Emotet to QakBot", at=2)
    await api.publish("neither", *named, title="A loader returns", at=1)
    page = await visitor.open("/ioc/malware/Emotet")
    rows = page.tree.xpath("//section[@aria-labelledby='headed']//tbody/tr")
    assert [row.xpath("string(th)") for row in rows] == ["Emotet by post"]
    assert "1 article with 3 indicators" in page.text
    (link,) = rows[0].xpath("td[@class='num']/a")
    assert (link.text, link.get("href")) == ("3", f"/articles/{alone.id}#its")
    listed = (await visitor.open(link.get("href"))).tree.xpath("//*[@id='its']/..//a[@class='value']")
    assert len(listed) == 3
    await api.publish("other", "malware QakBot", title="A loader returns")
    assert "By an article's title" not in (await visitor.open("/ioc/malware/QakBot")).text


async def test_the_indicators_that_a_title_alone_gives_to_a_family_are_one_list(api: Running, visitor: Reader) -> None:
    near = Sighting("ip", "203.0.113.7", "QakBot called it.", ("QakBot",), 2)
    await api.publish("post", "domain gale.example", "malware Emotet", near, title="Emotet by post", at=1)
    await api.publish("more", "domain gust.example", "malware Emotet", title="Geodo comes back", at=2)
    page = await visitor.open("/ioc/malware/Emotet")
    titled = await visitor.open(page.links()["List them"])
    shown = [a.text_content() for a in titled.tree.xpath("//table//a[@class='value']")]
    assert shown == ["gust[.]example", "gale[.]example"]
    assert "2 indicators of 2 articles" in titled.text and "(title)" in titled.text
    listed = await visitor.open("/ioc/malware/Emotet?by=title&format=txt")
    assert listed.answer.text.split() == ["gust.example", "gale.example"]


async def test_a_title_with_two_families_gives_none(api: Running, visitor: Reader) -> None:
    await api.publish("two", "domain gale.example", title="From Emotet to QakBot")
    assert "(title)" not in (await visitor.open("/ioc/domain/gale.example")).text
