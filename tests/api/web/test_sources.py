from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from api.web.pages.sources import health
from intel.records import Feed, Sighting
from tests.api.running import NOON, Running
from tests.api.web.reading import Reader

FEED = Feed(
    id="0b9f3c66-6f0f-5d0e-8f5a-1d2c3b4a5e6f",
    url="https://news.example/feed.xml",
    name="Example Blog",
    created_at=NOON - timedelta(days=9),
    next_poll_at=NOON + timedelta(minutes=20),
    etag='"1"',
    last_polled_at=NOON - timedelta(minutes=40),
    last_success_at=NOON - timedelta(minutes=40),
)


async def test_sources_are_listed_most_lately_heard_of_first(api: Running, visitor: Reader) -> None:
    await api.publish("a", "domain a.example", source="First Blog", at=1)
    await api.publish("b", "domain b.example", source="Second Blog", at=2)
    await api.publish("c", "domain c.example", source="First Blog", at=3)
    tree = (await visitor.open("/sources")).tree
    rows = [[" ".join(cell.text_content().split()) for cell in row][:3] for row in tree.xpath("//tbody/tr")]
    assert rows == [["First Blog", "2", "2"], ["Second Blog", "1", "1"]]


async def test_a_source_has_a_page_with_its_weeks_types_and_warnings(api: Running, visitor: Reader) -> None:
    name = 'First "Blog" / <b>EU</b>'
    # As the lists have it: all are marked by them in the background.
    marked = Sighting("domain", "warned.example", "It stood here.", warned=True)
    await api.publish("a", "domain a-kestrel.net", "ip 91.92.240.7", source=name, at=0)
    await api.publish("b", "domain b-kestrel.net", marked, source=name, at=-21 * 24, title="An older report")
    await api.publish("c", "domain a-kestrel.net", source="Second Blog", at=1)
    page = await visitor.open((await visitor.open("/sources")).links()[name])
    assert (page.status, page.heading) == (200, name)
    facts = [" ".join(div.text_content().split()) for div in page.tree.xpath("//dl[@class='figures']/div")]
    assert facts[:3] == ["articles2", "indicators4", "on warning lists1 25.0 % of all"]
    bars = page.tree.xpath("//*[local-name()='svg'][@role='img']//*[local-name()='rect']")
    assert [" ".join(bar.text_content().split()) for bar in bars] == [
        "2026-W44: 2 indicators",
        "2026-W47: 2 indicators",
        "2026-W44: 1 article",
        "2026-W47: 1 article",
    ]
    links = page.links()
    assert links["2026-W44"] == "/weekly/2026-W44"
    week = await visitor.open(page.links("//section[@aria-labelledby='weeks']")["2026-W44"])
    assert "2 indicators" in week.text and "b-kestrel[.]net" in week.text
    assert links["Second Blog"] == "/sources/Second%20Blog" and "An older report" in links
    assert (await visitor.open("/sources/Nobody")).status == 404


async def test_feeds_are_shown_with_what_is_wrong_with_them(api: Running, visitor: Reader) -> None:
    failing = replace(FEED, failures=3, last_error="<b>The site answered 500.</b>")
    assert await api.store.feeds.add(failing)
    page = await visitor.open("/sources")
    assert "failing" in page.text and "<b>The site answered 500.</b>" in page.text
    assert page.links()["Example Blog"] == "/sources/Example%20Blog"


def test_a_feeds_health_is_told_in_a_word() -> None:
    feeds = {
        "well": FEED,
        "new": replace(FEED, last_success_at=None),
        "failing": replace(FEED, failures=1),
        "off": replace(FEED, enabled=False),
        "ended": replace(FEED, ended_at=NOON),
        "late": replace(FEED, next_poll_at=NOON - timedelta(hours=2)),
    }
    assert {word: health(feed, NOON).word for word, feed in feeds.items()} == {word: word for word in feeds}
