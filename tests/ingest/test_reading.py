"""From a page's bytes to an article and its sightings."""

from __future__ import annotations

import pytest

from ingest.messages import Shape
from ingest.reading import Page, ReadPage, limited, read_page
from intel.errors import ArticleUnreadable
from intel.ids import article_id
from tests.api.pages import KESTREL, article_page
from tests.api.running import NOON
from tests.cases import each

URL = "https://news.example/report"


def read(body: str | bytes, content_type: str = "text/html", url: str | None = URL, **page: str | None) -> ReadPage:
    raw = body.encode() if isinstance(body, str) else body
    return read_page(Page(raw, content_type, page.get("charset", "utf-8"), url, page.get("source_name"), NOON))


def test_an_articles_indicators_come_in_order_with_their_sentences() -> None:
    found = read(article_page())
    assert sorted((seen.type, seen.value) for seen in found.sightings) == sorted(KESTREL)
    assert [seen.position for seen in found.sightings] == list(range(len(KESTREL)))
    by_value = {seen.value: seen for seen in found.sightings}
    assert by_value["login-kestrel.org"].context.startswith("The operators registered the domain")
    assert sum(found.article.ioc_counts.values()) == len(KESTREL)


@pytest.mark.promise("records.malware-near")
def test_a_malware_name_nearby_is_noted_with_the_indicator() -> None:
    far = "The weather was fine that day and nothing else happened. " * 5
    page = article_page(
        "Report", "Emotet called evil-kestrel[.]org at night.", far, "Later far-kestrel[.]org was seen."
    )
    near = {seen.value: seen.malware for seen in read(page).sightings}
    assert near["evil-kestrel.org"] == ("Emotet",)
    assert near["far-kestrel.org"] == ()


@pytest.mark.promise("articles.canonical-url-identity")
def test_tracking_parameters_and_fragments_are_no_part_of_an_articles_identity() -> None:
    plain = read(article_page()).article.id
    for url in (f"{URL}#top", f"{URL}?utm_source=x&utm_medium=y", "https://NEWS.example:443/report?fbclid=1"):
        assert read(article_page(), url=url).article.id == plain, url
    assert read(article_page(), url=f"{URL}?id=7").article.id != plain
    assert plain == article_id(URL)


def linked(canonical: str) -> str:
    return article_page().replace("<head>", f"<head><link rel='canonical' href='{canonical}'>")


@pytest.mark.promise("articles.canonical-url-identity")
def test_a_canonical_link_of_the_same_site_is_the_articles_address() -> None:
    found = read(linked(URL), url=f"{URL}?page=1")
    assert found.article.id == article_id(URL)
    assert set(found.addresses) >= {URL, f"{URL}?page=1"}


def test_a_canonical_link_to_another_site_takes_over_no_article_there() -> None:
    for canonical in (
        "https://victim.example/report",
        "javascript:alert(1)",
        "http://[",
        "//",
        "https://a b/",
        "x" * 9000,
    ):
        found = read(linked(canonical))
        assert found.article.id == article_id(URL), canonical
        assert found.addresses == (URL,), canonical


def dated(date: str) -> str:
    return article_page().replace("<head>", f"<head><meta property='article:published_time' content='{date}'>")


@pytest.mark.promise("records.first-last-seen")
def test_a_date_in_the_future_counts_as_now_and_nonsense_as_none() -> None:
    assert read(dated("2026-11-18T10:00:00Z")).article.published_at is not None
    assert read(dated("2099-01-01T00:00:00Z")).article.published_at in (None, NOON)
    for nonsense in ("soon", "0000-00-00", "-1", "9" * 5000):
        published = read(dated(nonsense)).article.published_at
        assert published is None or published <= NOON, nonsense


def test_what_was_read_can_be_handed_between_processes() -> None:
    found = read(article_page())
    shape = Shape(ReadPage)
    assembled = shape.assembled()
    for piece in shape.pieces(found):
        assembled.add(piece)
    assert assembled.value() == found


def test_more_indicators_than_may_be_are_cut_and_noted() -> None:
    body = "\n".join(f"The loader called h{n}[.]kestrel-files[.]net at night." for n in range(40))
    page = Page(body.encode(), "text/plain", None, None, None, NOON)
    found = read_page(page, most_indicators=25)
    assert len(found.sightings) <= 25
    assert found.article.notes


@pytest.mark.promise("articles.dropped-counted")
def test_what_comes_on_top_of_the_limit_is_counted_with_the_rest() -> None:
    body = "\n".join(f"The loader called h{n}[.]kestrel-files[.]net at night." for n in range(40))
    found = read_page(Page(body.encode(), "text/plain", None, None, None, NOON), most_indicators=25)
    cut = limited(found, 20)
    assert (len(cut.sightings), cut.article.ioc_count) == (20, 20)
    assert cut.article.ioc_dropped == found.article.ioc_dropped + len(found.sightings) - 20
    assert [note for note in cut.article.notes if "left out" in note] == [
        f"{cut.article.ioc_dropped:,} indicators beyond the limit of 20 an article were left out."
    ]
    assert limited(cut, 20) == cut


@each(
    "body",
    [
        b"",
        b"\0" * 1000,
        b"<html>",
        b"<" * 100_000,
        b"<div>" * 50_000,
        b"\xff\xfe\xfd" * 999,
        b"&" * 50_000,
        b"<!--" + b"-" * 50_000,
        b"<![CDATA[" * 5000,
        b"<script>" + b"a" * 50_000,
        "<p>\ud800</p>".encode("utf-8", "surrogatepass"),
        b"<svg><foreignObject>" * 2000,
        b"<table><tr><td>" * 5000,
    ],
    ids=lambda body: repr(body[:12]),
)
@each("content_type", ["text/html", "text/plain", "application/pdf", "application/xhtml+xml"])
def test_hostile_bytes_are_read_or_refused_and_nothing_else(body: bytes, content_type: str) -> None:
    try:
        found = read(body, content_type)
    except ArticleUnreadable as error:
        assert error.reason and error.detail.endswith(".")
    else:
        assert found.article.title
