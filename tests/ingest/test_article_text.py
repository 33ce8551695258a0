from __future__ import annotations

import io
import random
import time
import zlib
from datetime import UTC, datetime

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.article_text import (
    LONGEST_NAME,
    LONGEST_SUMMARY,
    LONGEST_TEXT,
    LONGEST_TITLE,
    ArticleText,
    clean_label,
    read_article,
)
from intel.errors import ArticleUnreadable
from tests.cases import each

URL = "https://blog.harbour-watch.example/2026/11/barge-loader"

PROSE = " ".join(
    [
        "The operators of the loader returned in October with a new set of servers.",
        "Our analysts saw the first message on a Monday morning, addressed to a shipping clerk.",
        "Once opened, the attachment wrote a scheduled task and asked a server in the north for more.",
        "The second stage was a small archive whose password was the name of the harbour.",
    ]
)
PAGE = f"""<!doctype html><html lang="en-GB"><head>
<meta charset="utf-8"><title>Barge Loader returns | Harbour Watch</title>
<meta property="og:title" content="Barge Loader returns"><meta property="og:site_name" content="Harbour Watch">
<meta name="author" content="Mara Lindqvist"><meta name="description" content="A loader comes back with new servers.">
<meta property="article:published_time" content="2026-11-18T10:30:00+02:00">
<link rel="canonical" href="https://blog.harbour-watch.example/2026/11/barge-loader?from=feed#top">
<script>var tracking = "https://metrics.example/x.js";</script><style>p {{ color: red }}</style></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/about">About us</a></li></ul></nav>
<main><article><h1>Barge Loader returns</h1><p>{PROSE}</p><p>{PROSE[::-1]}</p>
<table><tr><th>Indicator</th><th>Kind</th></tr><tr><td>barge-update[.]example</td><td>server</td></tr>
<tr><td>198.51.100[.]7</td><td>server</td></tr></table><p>{PROSE.upper()}</p></article></main>
<footer>Copyright Harbour Watch. All rights reserved. Cookies and privacy.</footer></body></html>""".encode()


def read(body: bytes | str, kind: str = "text/html", charset: str | None = None, url: str | None = URL) -> ArticleText:
    return read_article(body.encode() if isinstance(body, str) else body, kind, charset, url)


def page(inside: str, head: str = "") -> str:
    return f"<html><head>{head}</head><body><p>{PROSE}</p>{inside}</body></html>"


def unreadable(body: bytes | str, kind: str = "text/html") -> str:
    with pytest.raises(ArticleUnreadable) as refused:
        read(body, kind)
    assert refused.value.detail.endswith(".")
    return refused.value.reason


def test_a_page_is_read_with_all_it_says_about_itself() -> None:
    article = read(PAGE)
    assert article.kind == "html"
    assert article.title == "Barge Loader returns"
    assert article.author == "Mara Lindqvist"
    assert article.published_at == datetime(2026, 11, 18, 8, 30, tzinfo=UTC)
    assert article.language == "en"
    assert article.site_name == "Harbour Watch"
    assert article.canonical_link == "https://blog.harbour-watch.example/2026/11/barge-loader?from=feed"
    assert article.summary == "A loader comes back with new servers."
    assert article.notes == ()


def test_the_text_is_the_article_with_its_tables_and_without_the_page_around_it() -> None:
    text = read(PAGE).text
    assert PROSE in text
    assert "barge-update[.]example" in text
    assert "198.51.100[.]7" in text
    assert "tracking" not in text
    assert "About us" not in text


def test_the_source_goes_along_for_whoever_looks_closer() -> None:
    assert read(PAGE).html == PAGE.decode()


def test_a_file_is_named_by_its_title_element() -> None:
    named = "<title>What we saw in May</title>"
    assert read(page("<h1>Something else</h1>", named), url=None).title == "What we saw in May"
    assert read(PAGE, url=None).canonical_link is None


def test_a_page_without_titles_is_named_by_its_first_line_or_its_address() -> None:
    assert read(page("")).title.startswith("The operators of the loader")
    assert read(page(f"<h1>Heading</h1><p>{PROSE}</p>")).title == "Heading"


@each(
    ("head", "moment"),
    [
        ('<meta name="date" content="2026-11-18">', "2026-11-18T00:00:00+00:00"),
        ('<meta itemprop="datePublished" content="2026-11-18T10:00:00Z">', "2026-11-18T10:00:00+00:00"),
        ('<meta property="article:published_time" content="2026-11-18 10:00">', "2026-11-18T10:00:00+00:00"),
        ('<meta name="pubdate" content="Wed, 18 Nov 2026 10:00:00 +0100">', "2026-11-18T09:00:00+00:00"),
        ('<meta property="article:published_time" content="2099-01-01T00:00:00Z">', "2099-01-01T00:00:00+00:00"),
        (
            '<script type="application/ld+json">{"@graph": [{"@type": "WebSite"}, {"@type": "NewsArticle", '
            '"datePublished": "2026-11-18T10:00:00+01:00"}]}</script>',
            "2026-11-18T09:00:00+00:00",
        ),
        (
            '<meta name="date" content="yesterday"><meta name="dc.date" content="2026-11-18">',
            "2026-11-18T00:00:00+00:00",
        ),
    ],
)
def test_the_date_is_found_where_pages_keep_it(head: str, moment: str) -> None:
    assert read(page("", head)).published_at == datetime.fromisoformat(moment)


def test_the_date_may_stand_in_a_time_element() -> None:
    article = read(page('<time datetime="2026-11-17T06:00:00Z">last week</time>'))
    assert article.published_at == datetime(2026, 11, 17, 6, tzinfo=UTC)


@each(
    "content",
    ["", "soon", "0000-00-00", "2026-13-45", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+14:00", "9" * 5000],
)
def test_an_impossible_date_is_no_date(content: str) -> None:
    assert read(page("", f'<meta property="article:published_time" content="{content}">')).published_at is None


def test_hostile_json_about_the_page_does_no_harm() -> None:
    for json in (
        "[" * 100_000,
        '{"a":' * 100_000,
        "{",
        '{"datePublished": 5}',
        '["' + "x" * 400_000 + '"]',
        "9" * 5000,
    ):
        assert read(page("", f'<script type="application/ld+json">{json}</script>')).published_at is None


@each(
    ("href", "link"),
    [
        ("/2026/11/other", "https://blog.harbour-watch.example/2026/11/other"),
        ("http://blog.harbour-watch.example/a", "http://blog.harbour-watch.example/a"),
        ("https://www.blog.harbour-watch.example/a", "https://www.blog.harbour-watch.example/a"),
        ("https://blog.harbour-watch.example:8443/a", None),
        ("https://other.example/a", None),
        ("https://harbour-watch.example/a", "https://harbour-watch.example/a"),
        ("https://amp.harbour-watch.example/a", "https://amp.harbour-watch.example/a"),
        ("https://not-harbour-watch.example/a", None),
        ("https://blog.harbour-watch.example/index.html", None),
        ("https://blog.harbour-watch.example/en/", None),
        ("//other.example/a", None),
        ("https://blog.harbour-watch.example@other.example/a", None),
        ("javascript:alert(1)", None),
        ("ftp://blog.harbour-watch.example/a", None),
        ("https://blog.harbour-watch.example/", None),
        ("http://[", None),
        ("/" + "a" * 3000, None),
    ],
)
def test_a_page_may_name_its_own_address_within_its_site_only(href: str, link: str | None) -> None:
    assert read(page("", f'<link rel="canonical" href="{href}">')).canonical_link == link


@each(
    ("body", "charset", "word"),
    [
        ("Häfen".encode("utf-8-sig"), "iso-8859-1", "Häfen"),
        ("Häfen".encode("utf-16"), None, "Häfen"),
        ("Häfen".encode("iso-8859-1"), "iso-8859-1", "Häfen"),
        ("Häfen".encode(), None, "Häfen"),
        ("Häfen".encode("windows-1252"), None, "Häfen"),
        ("“Häfen”".encode("windows-1252"), "ISO-8859-1", "“Häfen”"),
        ("Гавань".encode("windows-1251"), "windows-1251", "Гавань"),
        ("Гавань".encode("koi8-r"), '"KOI8-R"', "Гавань"),
        ("港".encode("shift_jis"), "Shift_JIS", "港"),
        ("港".encode("gb18030"), "gb2312", "港"),
        ("港".encode("big5"), "big5", "港"),
        ("항구".encode("euc-kr"), "euc-kr", "항구"),
        ("Häfen".encode(), "no-such-charset", "Häfen"),
        ("Häfen".encode(), "utf-7", "Häfen"),
        (b"H\xc3\xa4fen \xff\xfe ok", "utf-8", "Häfen \ufffd\ufffd ok"),
        (b"Ha\x00fen", "utf-8", "Hafen"),
    ],
)
def test_text_is_decoded_as_a_browser_would(body: bytes, charset: str | None, word: str) -> None:
    bom = next((bom for bom in (b"\xef\xbb\xbf", b"\xff\xfe") if body.startswith(bom)), b"")
    tail = " and more words about the harbour".encode("utf-16-le" if bom == b"\xff\xfe" else "ascii")
    assert read(body + tail, "text/plain", charset).text.startswith(word)


def test_a_charset_in_a_meta_tag_counts_where_none_is_declared() -> None:
    body = f'<html><head><meta charset="windows-1251"><title>Гавань</title></head><body><p>{PROSE} Гавань.</p>'
    assert read(body.encode("windows-1251")).title == "Гавань"
    http = f'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><title>Гавань</title><p>{PROSE}'
    assert read(http.encode("koi8-r")).title == "Гавань"
    assert read(f'<meta charset="utf-16"><title>Häfen</title><p>{PROSE}'.encode()).title == "Häfen"


def test_titles_and_names_are_single_lines_without_tricks() -> None:
    trick = "  Report\u202e gpj.exe\x07\u0085\n\tof <b>&lt;script&gt;</b>\u2028 today \u200b" + "x" * 3000
    head = f'<title>{trick}</title><meta name="author" content="Eve\u202e\x1b[31m  Mallory {"y" * 3000}">'
    for url in (None, URL):
        article = read(page("", head), url=url)
        assert article.title.startswith("Report gpj.exe")
        assert len(article.title) <= LONGEST_TITLE
        assert "\u202e" not in article.title + (article.author or "") + article.summary + article.text
        assert len(article.author or "") <= LONGEST_NAME


@given(st.text(), st.integers(1, 50))
def test_a_label_is_one_clean_line_and_cleaning_it_again_changes_nothing(text: str, longest: int) -> None:
    label = clean_label(text, longest)
    assert len(label) <= longest
    assert label == label.strip()
    assert len(label.splitlines()) <= 1
    assert clean_label(label, longest) == label


def test_a_summary_is_cut_at_the_end_of_a_sentence() -> None:
    summary = read(f"{PROSE} {PROSE} {PROSE}", "text/plain").summary
    assert len(summary) <= LONGEST_SUMMARY
    assert summary.endswith(".")
    endless = read("word " * 1000, "text/plain").summary
    assert len(endless) <= LONGEST_SUMMARY
    assert endless.endswith("word…")


def test_plain_text_is_kept_as_it_is() -> None:
    article = read("Harbour report\r\n\r\n<b>evil[.]example</b>\r\n\tindented\x00\x1b[31m", "text/plain")
    assert article.text == "Harbour report\n\n<b>evil[.]example</b>\n\tindented[31m"
    assert (article.kind, article.title, article.html) == ("text", "Harbour report", None)


@pytest.mark.parametrize("declared", ["", "text/plain"])
def test_a_file_with_front_matter_is_markdown_without_being_declared(declared: str) -> None:
    front = "---\ndate: 2026-11-03\ntitle: The Barge loader\n---\n\nIt asked evil[.]example for orders.\n"
    article = read(front, declared)
    assert (article.kind, article.title, article.published_at) == (
        "markdown",
        "The Barge loader",
        datetime(2026, 11, 3, tzinfo=UTC),
    )
    rule = read("---\n\nThe loader: its title and date: unknown.\n---\n", declared)
    assert rule.kind == "text"


def test_markdown_is_kept_and_named_by_its_heading_or_front_matter() -> None:
    body = "Intro line\n\n# The *Barge* loader #\n\nevil[.]example"
    article = read(body, "text/markdown")
    assert (article.kind, article.title, article.text) == ("markdown", "The Barge loader", body)
    front = "---\ntitle: 'Barge'\nauthor: Mara\ndate: 2026-11-18\nlang: de\n---\n# Other\ntext"
    article = read(front, "text/markdown")
    assert (article.title, article.author, article.language) == ("Barge", "Mara", "de")
    assert article.published_at == datetime(2026, 11, 18, tzinfo=UTC)


def test_a_title_over_several_lines_of_front_matter_is_one_line() -> None:
    front = "---\ntitle: >-\n  The Barge\n  loader\nauthor: Mara\n---\nIt asked evil[.]example for orders.\n"
    article = read(front, "text/markdown")
    assert (article.title, article.author) == ("The Barge loader", "Mara")


def test_a_long_text_is_cut_and_says_so() -> None:
    article = read("evil[.]example " * 100_000, "text/plain")
    assert len(article.text) == LONGEST_TEXT
    assert "1,000,000" in article.notes[0]


def pdf(text: str, password: str | None = None, pages: int = 1) -> bytes:
    writer = pypdf.PdfWriter()
    font = pypdf.generic.DictionaryObject(
        {
            pypdf.generic.NameObject("/Type"): pypdf.generic.NameObject("/Font"),
            pypdf.generic.NameObject("/Subtype"): pypdf.generic.NameObject("/Type1"),
            pypdf.generic.NameObject("/BaseFont"): pypdf.generic.NameObject("/Helvetica"),
        }
    )
    for number in range(pages):
        sheet = writer.add_blank_page(600, 800)
        fonts = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/F1"): font})
        resources = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/Font"): fonts})
        sheet[pypdf.generic.NameObject("/Resources")] = resources
        content = pypdf.generic.DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 700 Td ({text} {number}) Tj ET".encode())
        sheet[pypdf.generic.NameObject("/Contents")] = writer._add_object(content)
    writer.add_metadata({"/Title": "Barge PDF", "/Author": "Mara", "/CreationDate": "D:20261118103000+02'00'"})
    if password:
        writer.encrypt(password)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_pdf_is_read_page_by_page() -> None:
    article = read(pdf("The server evil[.]example on page", pages=3), "application/pdf")
    assert (article.kind, article.title, article.author) == ("pdf", "Barge PDF", "Mara")
    assert article.published_at == datetime(2026, 11, 18, 8, 30, tzinfo=UTC)
    assert [f"evil[.]example on page {number}" in article.text for number in range(3)] == [True] * 3
    assert article.notes == ()


@pytest.mark.slow
def test_a_pdf_with_too_many_pages_says_how_many_were_left_out() -> None:
    article = read(pdf("Page", pages=503), "application/pdf")
    assert article.notes == ("3 pages of the PDF were not read.",)


def test_pdfs_that_cannot_be_read_say_why() -> None:
    assert unreadable(pdf("secret text of some length", "password"), "application/pdf") == "pdf_encrypted"
    assert unreadable(b"%PDF-1.7\n" + b"garbage " * 100, "application/pdf") == "pdf_damaged"
    assert unreadable(pdf(""), "application/pdf") == "no_text"
    body = pdf("The server evil[.]example on page", pages=3)
    noise = random.Random(1)
    for _ in range(60):
        broken = bytearray(body)
        for _ in range(20):
            broken[noise.randrange(9, len(broken))] = noise.randrange(256)
        try:
            read(bytes(broken), "application/pdf")
        except ArticleUnreadable as error:
            assert error.reason in ("pdf_damaged", "no_text", "pdf_encrypted")


@each(
    ("body", "reason"),
    [
        ("", "no_text"),
        ("   \n ", "no_text"),
        ("<html></html>", "no_text"),
        ("<html><body><img src=x></body></html>", "no_text"),
        ("<!-- only a comment -->", "no_text"),
        ("<html><body><div id=root></div><script src=app.js></script></body></html>", "script_only"),
        ("<body><noscript>You need to enable JavaScript to run this app.</noscript><script>1</script>", "script_only"),
        ("<body><p>Just a moment... Checking your browser before you go on.</p><script>1</script>", "script_only"),
        ("<body><form><p>Please sign in to go on</p><input name=u><input type=password></form>", "login_wall"),
    ],
)
def test_a_page_without_an_article_says_what_it_is(body: str, reason: str) -> None:
    assert unreadable(body) == reason


def test_a_sign_in_form_beside_an_article_is_no_wall() -> None:
    assert PROSE in read(page(f"<p>{PROSE}</p><form><input type=password></form>")).text


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown"])
def test_an_empty_text_is_no_article(kind: str) -> None:
    assert unreadable(" \n\x00 ", kind) == "no_text"


def test_other_types_are_no_articles() -> None:
    assert unreadable(b"PK\x03\x04", "application/zip") == "unsupported_content_type"
    assert unreadable(b"\x89PNG\r\n\x1a\n" + bytes(100), "text/html") == "unsupported_content_type"


@each("charset", [None, "utf-8", "iso-8859-1", "windows-1251", "koi8-r", "shift_jis", "utf-16"])
@each("length", [300, 5_000, 200_000])
def test_bytes_that_are_no_text_are_no_article_whatever_they_are_declared_as(charset: str | None, length: int) -> None:
    noise = random.Random(length).randbytes(length)
    for body in (noise, b"<html><body><p>" + noise, zlib.compress(noise)):
        with pytest.raises(ArticleUnreadable) as refused:
            read_article(body, "text/html", charset, "https://news.example/x")
        assert refused.value.reason == "no_text"


@each("codec", ["utf-16-le", "utf-16-be"])
@each("kind", ["text/html", "text/plain"])
def test_utf_16_without_a_byte_order_mark_is_read(codec: str, kind: str) -> None:
    text = "<p>The loader Häfen called evil[.]example at night and came back for more.</p>" * 3
    assert "Häfen called evil[.]example" in read_article(text.encode(codec), kind, None, None).text


def test_a_page_with_some_bad_bytes_is_read() -> None:
    page = "<p>" + "The harbour report says that the loader called home. " * 20 + "</p>"
    body = page.encode().replace(b"loader", b"lo\xff\x81ader")
    assert "harbour report" in read_article(body, "text/html", "utf-8", None).text


def iocs(count: int) -> list[str]:
    return [f"host{number}.barge[.]example" for number in range(count)]


HOSTILE = {
    "nested": "<div>" * 100_000 + PROSE,
    "nested_inline": "<b>" * 50_000 + PROSE + "</b>" * 50_000,
    "nested_tables": "<table><tr><td>" * 3_000 + PROSE,
    "paragraphs": f"<p>{PROSE}</p>" + "<p>x</p>" * 200_000,
    "spans": f"<p>{PROSE}" + "<span>x</span>" * 100_000,
    "attributes_with_brackets": "<div " + "x< " * 300_000 + f">{PROSE}</div>",
    "quotes": f"<p>{PROSE}</p><blockquote>" * 2_000 + "<p>z" * 10_000,
    "attributes": "<div " + " ".join(f"a{number}=1" for number in range(100_000)) + f">{PROSE}</div>",
    "many_attributes": f"<p>{PROSE}</p>" + ("<i " + " ".join(f"a{number}" for number in range(500)) + ">x</i>") * 200,
    "open_tags": f"<p>{PROSE}</p>" + "<a " * 300_000,
    "open_comments": f"<p>{PROSE}</p>" + "<!--" * 300_000,
    "open_scripts": f"<p>{PROSE}</p>" + "<script>" * 100_000,
    "brackets": f"<p>{PROSE}</p>" + "<" * 500_000,
    "entities": f"<p>{PROSE}</p>" + "&lt;" * 500_000,
    "bad_entities": f"<p>{PROSE}</p>" + "&#x110000;&#0;&#xD800;&nosuch;" * 20_000,
    "bomb": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + step)} "{f"&{chr(97 + step)};" * 10}">' for step in range(12))
    + f"]><html><body><p>{PROSE}</p>&m;</body></html>",
    "external": f'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><html><body><p>{PROSE}</p>&a;</body></html>',
    "one_line": f"<p>{PROSE} " + "a" * 2_000_000,
    "spaces": f"<p>{PROSE}" + " " * 2_000_000 + "</p>",
    "title": "<title>" + "t" * 400_000 + f"</title><p>{PROSE}</p>",
    "metas": '<meta name="date" content="x">' * 10_000 + f"<p>{PROSE}</p>",
    "links": f"<p>{PROSE}</p>" + '<link rel="canonical" href="x y">' * 10_000,
    "null": PAGE.decode().replace("a", "a\x00"),
    "surrogates": f"<p>{PROSE} &#xDC80;&#xD83D;&#xDE00;</p>",
    "frames": f"<frameset>{'<frame src=x>' * 5000}<noframes><p>{PROSE}</p></noframes></frameset>",
    "svg": f"<p>{PROSE}</p><svg><foreignObject><math><mtext><style><img></style></mtext></math></foreignObject></svg>",
}


@pytest.mark.slow
@each("name", sorted(HOSTILE))
def test_a_hostile_page_is_read_in_bounded_time(name: str) -> None:
    begun = time.process_time()
    article = read(f"<html><body>{HOSTILE[name]}" if "<html>" not in HOSTILE[name] else HOSTILE[name])
    assert time.process_time() - begun < 15
    assert "scheduled task" in article.text
    assert "root:" not in article.text
    assert len(article.text) <= LONGEST_TEXT


def test_a_page_nested_too_deeply_loses_none_of_its_text_and_says_so() -> None:
    article = read("<title>Deep</title>" + "<div>" * 5000 + "evil[.]example" + "</div>" * 5000 + f"<p>{PROSE}</p>")
    assert "evil[.]example" in article.text
    assert PROSE in article.text
    assert article.html is None
    assert "nested" in article.notes[0]
