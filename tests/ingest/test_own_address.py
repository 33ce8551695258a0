"""An article's own address: many ways of writing it are one, and nobody writes another's."""

from __future__ import annotations

import lxml.html
import pytest

from ingest.own_address import amp_links, canonical_link
from intel.canonical import canonical_url
from tests.api.pages import article_page
from tests.cases import each

PAGE = "https://news.example.co.uk/2026/kestrel"


def tree(*links: str, html: str = "<html>") -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(
        f"{html}<head><title>x</title>{''.join(links)}</head><body><p>x</p></body></html>"
    )


def link(rel: str, href: str) -> str:
    return f'<link rel="{rel}" href="{href}">'


@pytest.mark.promise("articles.canonical-url-identity")
@each(
    "url",
    [
        "https://news.example.co.uk/2026/kestrel#part-2",
        "https://NEWS.example.co.uk:443/2026/kestrel",
        "https://news.example.co.uk/2026/kestrel?utm_source=x&utm_medium=y&utm_campaign=z&utm_id=1",
        "https://news.example.co.uk/2026/kestrel?fbclid=IwAR0",
        "https://news.example.co.uk/2026/kestrel?gclid=1&gad_source=1&gbraid=2",
        "https://news.example.co.uk/2026/kestrel?msclkid=1&mc_cid=2&mc_eid=3&_hsenc=4&_hsmi=5&mkt_tok=6",
        "https://news.example.co.uk/2026/kestrel?mtm_campaign=x&pk_kwd=y&__twitter_impression=true&srsltid=z",
        "https://news.example.co.uk/2026/kestrel?amp",
        "https://news.example.co.uk/2026/kestrel?amp=1",
        "https://news.example.co.uk/2026/kestrel?outputType=amp",
        "https://news.example.co.uk/2026/kestrel?utm_source=x&amp;utm_medium=y",
        "https://news.example.co.uk/2026/kestrel?",
    ],
)
def test_what_tells_how_a_reader_came_is_no_part_of_an_address(url: str) -> None:
    assert canonical_url(url) == PAGE


@each(
    "query",
    [
        "id=7",
        "p=123",
        "page=2",
        "amplifier=1",
        "amp=2026",
        "view=full",
        "ref=7",
        "lang=en",
        "utm=1",
        "source=x",
        "a=1&b=2",
    ],
)
def test_what_may_tell_one_article_from_another_is_kept(query: str) -> None:
    assert canonical_url(f"{PAGE}?{query}") == f"{PAGE}?{query}"


@pytest.mark.promise("articles.canonical-url-identity")
@each(
    ("page", "href", "found"),
    [
        ("https://amp.example.co.uk/2026/kestrel", PAGE, PAGE),
        (
            "https://example.co.uk/kestrel/amp/",
            "https://www.example.co.uk/kestrel/",
            "https://www.example.co.uk/kestrel/",
        ),
        ("http://news.example.co.uk/2026/kestrel", PAGE, PAGE),
        (f"{PAGE}?page=2", "/2026/kestrel", PAGE),
        (PAGE, " /2026/kestrel ", PAGE),
        (PAGE, "https://example.co.uk/", None),
        (PAGE, "https://news.example.co.uk", None),
        (PAGE, "https://news.example.co.uk/index.php", None),
        (PAGE, "https://news.example.co.uk/en-gb", None),
        (PAGE, "https://news.example.co.uk/?p=123", "https://news.example.co.uk/?p=123"),
        ("https://news.example.co.uk/", "https://www.example.co.uk/", "https://www.example.co.uk/"),
        (PAGE, "https://other.co.uk/2026/kestrel", None),
        (PAGE, "https://co.uk/2026/kestrel", None),
        (PAGE, "https://example.co.uk.evil.example/x", None),
        (PAGE, "https://news.example.co.uk:8443/x", None),
        (PAGE, "https://news.example.co.uk@evil.example/x", None),
        ("https://mallory.github.io/x", "https://alice.github.io/report", None),
        ("https://mallory.blogspot.com/x", "https://www.blogspot.com/report", None),
        ("https://x.mallory.github.io/x", "https://mallory.github.io/report", "https://mallory.github.io/report"),
        ("http://192.0.2.7/x", "http://192.0.2.8/x", None),
        ("http://192.0.2.7/x", "/y", "http://192.0.2.7/y"),
        (PAGE, "", PAGE),
        (PAGE, "javascript:alert(1)", None),
        (PAGE, "data:text/html,x", None),
    ],
)
def test_a_canonical_link_is_believed_within_its_site(page: str, href: str, found: str | None) -> None:
    assert canonical_link(tree(link("canonical", href)), page) == found


def test_a_page_that_names_two_addresses_names_none() -> None:
    two = tree(link("canonical", "/a"), link("canonical", "/b"))
    assert canonical_link(two, PAGE) is None
    twice = tree(link("canonical", "/a"), link("Canonical nofollow", "https://news.example.co.uk/a"))
    assert canonical_link(twice, PAGE) == "https://news.example.co.uk/a"


@each(
    ("page", "found"),
    [
        ("https://news.example.co.uk/2026/kestrel/amp/", "https://news.example.co.uk/2026/kestrel/"),
        ("https://news.example.co.uk/2026/kestrel/amp", PAGE),
        ("https://news.example.co.uk/amp/2026/kestrel", PAGE),
        ("https://news.example.co.uk/2026/kestrel.amp.html", f"{PAGE}.html"),
        (f"{PAGE}?amp=1", PAGE),
        (f"{PAGE}?id=7&amp=1", f"{PAGE}?id=7"),
        ("https://news.example.co.uk/amp/", None),
        (PAGE, None),
    ],
)
def test_an_amp_page_without_a_canonical_link_is_known_by_its_marks(page: str, found: str | None) -> None:
    assert canonical_link(tree(html="<html amp lang=en>"), page) == found
    assert canonical_link(tree(html="<html \u26a1>"), page) == found
    assert canonical_link(tree(), page) is None


@each(
    ("href", "found"),
    [
        ("https://amp.example.co.uk/2026/kestrel", True),
        ("https://news.example.co.uk/2026/kestrel/amp/", True),
        ("https://news.example.co.uk/amp/2026/kestrel", True),
        (f"{PAGE}?amp=1", True),
        ("https://news.example.co.uk/2026/another/amp/", False),
        ("https://news.example.co.uk/2026/another", False),
        ("https://cdn.ampproject.example/c/s/news.example.co.uk/2026/kestrel", False),
    ],
)
def test_a_page_leads_to_its_own_amp_form_and_takes_no_other_address(href: str, found: bool) -> None:
    assert amp_links(tree(link("amphtml", href)), PAGE) == ((href,) if found else ())


def test_an_address_in_a_text_is_no_link() -> None:
    assert canonical_link(lxml.html.document_fromstring(article_page()), PAGE) is None
    assert canonical_link(tree(), None) is None
