"""Lists of indicators that a page links to are named and left alone."""

from __future__ import annotations

import lxml.html

from ingest.linked_lists import linked_lists
from ingest.reading import Page, read_page
from tests.api.pages import article_page
from tests.api.running import NOON
from tests.cases import each

URL = "https://news.example/2026/report"


def lists(*anchors: str) -> tuple[str, ...]:
    return linked_lists(lxml.html.document_fromstring(f"<body><p>x</p>{''.join(anchors)}</body>"), URL)


@each(
    ("href", "text"),
    [
        ("/files/kestrel.csv", "here"),
        ("kestrel.json", "here"),
        ("https://raw.code.example/a/b/main/iocs.stix2?raw=1#top", "here"),
        ("kestrel.misp.json", "here"),
        ("kestrel.csv.gz", "here"),
        ("kestrel.txt", "Indicators of compromise"),
        ("kestrel-iocs.txt", "here"),
        ("kestrel.xlsx", "IOC list"),
    ],
)
def test_a_list_is_told_by_its_name(href: str, text: str) -> None:
    (found,) = lists(f"<a href='{href}'>{text}</a>")
    assert found.startswith("https://") and "#" not in found


@each(
    ("href", "text"),
    [
        ("/robots.txt", "robots"),
        ("report.pdf", "IOC"),
        ("/iocs", "all IOCs"),
        ("javascript:alert('x.csv')", "x"),
        ("data:text/csv,x.csv", "x"),
        ("https://[/x.csv", "x"),
        ("x\u202e.csv", "x"),
        ("https://a.example/" + "a" * 600 + ".csv", "x"),
        ("", "x.csv"),
    ],
)
def test_nothing_else_is_one(href: str, text: str) -> None:
    assert lists(f'<a href="{href}">{text}</a>') == ()


def test_a_list_is_named_once_and_not_without_bound() -> None:
    assert lists(*("<a href='a.csv'>x</a>" for _ in range(5))) == ("https://news.example/2026/a.csv",)
    assert len(lists(*(f"<a href='{n}.csv'>x</a>" for n in range(500)))) == 20


def test_the_lists_stand_in_the_articles_notes() -> None:
    body = article_page().replace("</article>", "<p><a href='/iocs.csv'>All indicators</a></p></article>")
    read = read_page(Page(body.encode(), "text/html", None, URL, None, NOON))
    assert read.article.notes == ("Links to indicator lists, which were not read: https://news.example/iocs.csv",)
