"""Pages: every block on a line of its own, every piece with its place, and no page that raises."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from ingest.indicators import document_from_html, extract
from tests.cases import each
from tests.ingest.indicators.snippets import ARTICLE, MD5, PROSE


def values(html: str, url: str | None = None, main_text: str | None = None) -> list[str]:
    return [each.value for each in extract(document_from_html(html, url, main_text)).indicators]


def page(body: str) -> str:
    return f"<!doctype html><html><head><title>Storm report</title></head><body>{body}</body></html>"


def test_blocks_and_cells_part_what_stands_in_them() -> None:
    html = page(
        "<p>a[.]gale-post[.]com</p><div>b[.]gale-post[.]com</div><table><tr><td>1.2.3[.]4<td>5.6.7[.]8</tr></table>"
    )
    assert values(html) == ["a.gale-post.com", "b.gale-post.com", "1.2.3.4", "5.6.7.8"]


def test_line_breaks_part_and_soft_breaks_join() -> None:
    html = page("<p>gale<wbr>-post[.]com<br>mist&shy;-post[.]com<br>fog&#8203;-post[.]com <b>185.220</b>.101[.]47</p>")
    assert values(html) == [
        "gale-post.com",
        "mist-post.com",
        "fog-post.com",
        "185.220.101.47",
    ]


def test_scripts_and_styles_are_not_read() -> None:
    html = page(
        "<script>var c2='gale-post[.]com'</script><style>a{b:url(http://gale-post.com/x)}</style><p>It rained.</p>"
    )
    assert values(html) == []


def test_code_is_kept_as_it_is_written() -> None:
    document = document_from_html(page("<pre>GET /a HTTP/1.1\n  Host: gale-post[.]com</pre>"))
    assert "GET /a HTTP/1.1\n  Host: gale-post[.]com" in document.text
    assert document.place(document.text.index("Host")) == "code"


def test_navigation_and_footers_are_furniture() -> None:
    html = page(
        f"<nav><a href='/'>gale-post.com</a></nav><article><p>{PROSE}</p></article><footer>run by mist-post.ru</footer>"
    )
    document = document_from_html(html)
    assert document.place(document.text.index("gale-post.com")) == "boilerplate"
    assert values(html) == []


def test_a_wrapper_named_after_a_side_bar_is_none() -> None:
    html = page(
        "<div class='with-sidebar'><article><h1>Storm</h1><p>The C2 server was gale-post.com.</p></article></div>"
    )
    assert values(html) == ["gale-post.com"]


def test_where_a_page_links_to_is_no_indicator() -> None:
    html = page(f"<article><p>{PROSE} As <a href='https://gale-post.com/told'>gale-post.com</a> told us.</p></article>")
    assert values(html) == []


NETWORKS = {
    "X": "https://x.com/intent/post?url=u",
    "Twitter": "https://twitter.com/intent/tweet?text=t",
    "LinkedIn": "https://www.linkedin.com/sharing/share-offsite/?url=u",
    "Facebook": "https://www.facebook.com/sharer/sharer.php?u=u",
    "Bluesky": "https://bsky.app/intent/compose?text=t",
    "BlueSky": "https://bsky.app/profile/gale.example",
    "Mastodon": "https://mastodonshare.com/?text=t&amp;url=u",
    "Threads": "https://www.threads.net/intent/post?text=t",
    "Reddit": "https://www.reddit.com/submit?url=u",
    "Hacker News": "https://news.ycombinator.com/submitlink?u=u",
    "Telegram": "https://t.me/share/url?url=u",
    "WhatsApp": "https://wa.me/?text=t",
    "Pinterest": "https://www.pinterest.com/pin/create/button/?url=u",
    "Tumblr": "https://www.tumblr.com/share/link?url=u",
    "Pocket": "https://getpocket.com/save?url=u",
    "Xing": "https://www.xing.com/spi/shares/new?url=u",
    "Flipboard": "https://share.flipboard.com/bookmarklet/popout?url=u",
    "Line": "https://social-plugins.line.me/lineit/share?url=u",
}
STORY = f"<h1>Storm</h1><p>{PROSE}</p><p>Emotet called gale-post[.]com.</p>"


@each(
    "wrapper",
    [
        "<nav class='share'>{}</nav>",
        "<ul class='teilen'>{}</ul>",
        "<div>{}</div>",
        "{}",
    ],
)
def test_links_to_social_networks_name_no_malware(wrapper: str) -> None:
    links = "".join(f"<li><a href='{href}' rel='noopener'>{name}</a></li>" for name, href in NETWORKS.items())
    html = page(f"<main><article>{STORY}</article></main>{wrapper.format(links)}")
    assert values(html) == ["Emotet", "gale-post.com"]


@each(
    "box",
    [
        "<nav><a href='/t'>TrickBot</a></nav>",
        "<footer>TrickBot, told by us</footer>",
        "<aside>TrickBot is back</aside>",
        "<div class='cookie-bar'>TrickBot likes cookies</div>",
        "<section class='author'><h2>Jane</h2><p>She hunts TrickBot.</p></section>",
        "<div class='author-box'>Jane hunts TrickBot.</div>",
        "<section><h3>Related posts</h3><ul><li>TrickBot at sea</li></ul></section>",
        "<div><h2>You may also like</h2><p>TrickBot at sea</p></div>",
        "<div class='related'><article><h3>TrickBot</h3></article><article><h3>TrickBot again</h3></article></div>",
        "<div class='hot'><a href='/t'>TrickBot</a></div>",
        "<ul class='recommend'><li>TrickBot at sea</li></ul>",
        "<div class='latest-posts'><p>TrickBot at sea</p></div>",
        "<div class='prev-next'>TrickBot at sea</div>",
        "<div class='tags'>TrickBot</div>",
        "<div><h3>热门文章</h3><p>TrickBot</p></div>",
        "<div><h3>関連記事</h3><p>TrickBot</p></div>",
        "<div><h3>Artículos relacionados</h3><p>TrickBot</p></div>",
        "<div><h3>Articles similaires</h3><p>TrickBot</p></div>",
    ],
)
def test_what_surrounds_an_article_names_no_malware(box: str) -> None:
    assert values(page(f"<main><article>{STORY}</article></main>{box}")) == [
        "Emotet",
        "gale-post.com",
    ]


def test_a_name_in_the_furniture_that_the_article_names_too_counts() -> None:
    html = page(f"<nav>Emotet</nav><article>{STORY}</article>")
    found = extract(document_from_html(html))
    assert [(each.kept, each.rule) for each in found.candidates() if each.value == "Emotet"] == [
        (False, "boilerplate"),
        (True, "name of malware"),
    ]


def test_a_class_of_the_article_that_speaks_of_its_author_hides_nothing() -> None:
    assert values(page(f"<div class='post tag-emotet author-jane'>{STORY}</div>")) == [
        "Emotet",
        "gale-post.com",
    ]


def test_a_wrapper_of_the_article_and_of_cards_hides_nothing() -> None:
    article = f"<article><p>{PROSE}</p><p>{PROSE}</p><p>Emotet called gale-post[.]com.</p></article>"
    cards = "<article><h3>TrickBot</h3></article>" * 2
    html = page(f"<h1>Storm</h1><div class='with sidebar'>{article}<aside>{cards}</aside></div>")
    assert values(html) == ["Emotet", "gale-post.com"]


def test_a_section_about_related_indicators_is_read() -> None:
    html = page(f"<article>{STORY}<section><h2>Related indicators</h2><p>mist-post[.]com</p></section></article>")
    assert "mist-post.com" in values(html)


def test_a_list_of_indicators_may_hold_names_that_are_reserved_and_no_names_of_files() -> None:
    listed = f"# hosts\n203.0.113.150\npool.tin-mine.example\ntin-mine.example\n\n# md5\n{MD5}  kin.sh\n"
    html = page(f"<article>{STORY}<h2>Indicators of compromise</h2><pre>{listed}</pre></article>")
    assert values(html)[2:] == [
        "203.0.113.150",
        "pool.tin-mine.example",
        "tin-mine.example",
        MD5,
    ]


def test_a_table_whose_cells_are_links_is_read() -> None:
    cell = "<td><a href='https://attack.mitre.org/techniques/T1059/'>T1059</a></td>"
    assert values(page(f"<table><tr>{cell}<td>Command and Scripting Interpreter</td></tr></table>")) == ["T1059"]


def test_the_host_of_a_page_is_known_from_its_address_or_its_head() -> None:
    body = f"<p>{PROSE} The server gale-post.com is ours, the server mist-post.ru is theirs.</p>"
    head = "<html><head><link rel='canonical' href='https://www.gale-post.com/storm'></head><body>"
    assert values(page(body), "https://blog.gale-post.com/storm") == ["mist-post.ru"]
    assert values(f"{head}{body}</body></html>") == ["mist-post.ru"]


def test_running_text_outside_the_article_counts_little() -> None:
    story = "The crew fetched its orders from the server gale-post.com every night for a month."
    advert = "Rent a server at mist-post.ru today and sleep well again every night for a month."
    assert values(page(f"<div><p>{story}</p></div><div><p>{advert}</p></div>"), None, story) == ["gale-post.com"]


def test_the_figure_of_a_note_is_no_part_of_the_word_before_it() -> None:
    noted = "CVE-2024-3400<sup>2</sup>, 45.61.136[.]47<sup><a href='#n'>[3]</a></sup>, Emotet<sup>4, 5</sup>"
    assert values(page(f"<p>It used {noted} and gale-post[.]com<sup>1</sup></p>")) == [
        "CVE-2024-3400",
        "45.61.136.47",
        "Emotet",
        "gale-post.com",
    ]
    assert values(page("<p>It asked gale-post<sup>[.]</sup>com</p>")) == ["gale-post.com"]


def test_the_figure_of_a_note_makes_no_other_line_of_it() -> None:
    story = "The crew<sup>1</sup> fetched its orders from the server gale-post.com every night."
    assert values(page(f"<p>{story}</p>"), None, story.replace("<sup>1</sup>", "1")) == ["gale-post.com"]


def test_a_single_tag_and_a_section_with_hot_in_its_name_are_read() -> None:
    html = "<p><span class='tag'>gale-post[.]com</span></p><div class='hot-fix'>It used Emotet.</div>"
    assert values(page(html)) == ["gale-post.com", "Emotet"]


def test_the_title_is_read() -> None:
    assert values("<html><head><title>CVE-2024-3400 in use</title></head><body><p>It rained.</p></body></html>") == [
        "CVE-2024-3400"
    ]


def test_deep_nesting_is_read_in_bounded_time() -> None:
    started = time.process_time()
    document_from_html("<div class='sidebar'>" * 50_000 + "gale-post[.]com")
    assert time.process_time() - started < 5


@given(st.text(alphabet="<>/=\"'&; abcdivptrenoschT1059.[]\x00\ud800é!-?", max_size=300))
def test_no_page_raises(html: str) -> None:
    extract(document_from_html(html, "https://gale-post.com/x", html))


def test_what_nests_deeply_is_read_with_all_that_follows() -> None:
    html = "<html><body>" + "<div>" * 900 + "<p>gale-post[.]com</p>" + "</div>" * 900 + "<p>mist-post[.]com</p>"
    document = document_from_html(html)
    assert [each.value for each in extract(document).indicators] == [
        "gale-post.com",
        "mist-post.com",
    ]
    assert document.limits == ()


def test_what_nests_too_deeply_is_read_as_text_and_the_limit_is_told() -> None:
    html = "<html><body>" + "<div>" * 5000 + "<p>gale-post[.]com</p>" + "</div>" * 5000 + "<p>mist-post[.]com</p>"
    extraction = extract(document_from_html(html))
    assert [each.value for each in extraction.indicators] == [
        "gale-post.com",
        "mist-post.com",
    ]
    assert extraction.limits_reached == ("markup",)


def test_a_page_that_is_longer_than_is_read_says_so() -> None:
    extraction = extract(document_from_html("<p>gale-post[.]com</p>" + " " * 20_000_000 + "<p>mist-post[.]com</p>"))
    assert [each.value for each in extraction.indicators] == ["gale-post.com"]
    assert extraction.limits_reached == ("page",)


def test_the_words_of_a_link_to_a_look_up_service_about_them_are_read_as_text() -> None:
    row = '<tr><td><a href="https://urlscan.io/domain/{0}">{0}</a></td><td>C2</td></tr>'
    table = "<table>" + row.format("gale-post.com") + row.format("mist-post.ru") + "</table>"
    html = f"<html><body><h1>Storm</h1><p>{ARTICLE}</p><h2>Indicators</h2>{table}</body></html>"
    assert {each.value for each in extract(document_from_html(html)).indicators} == {
        "gale-post.com",
        "mist-post.ru",
    }


def test_identifiers_and_addresses_of_other_posts_are_none_of_the_article() -> None:
    others = '<section class="related-posts"><p>CVE-2021-44228, T1059, 185.220.101.47</p></section>'
    html = f"<html><body><article><h1>Storm</h1><p>{ARTICLE} CVE-2024-3400</p></article>{others}</body></html>"
    assert [each.value for each in extract(document_from_html(html)).indicators] == ["CVE-2024-3400"]


def test_a_defanged_address_behind_other_words_is_read() -> None:
    link = '<a href="https://bills.gale-post[.]com/sign-in.html">https://portal.tarn.org/billing</a>'
    html = f"<html><body><p>Phishing: the invoice {link}, not the portal.</p></body></html>"
    assert {(each.type, each.value) for each in extract(document_from_html(html)).indicators} == {
        ("url", "https://bills.gale-post.com/sign-in.html"),
        ("domain", "bills.gale-post.com"),
    }


def test_an_address_behind_the_address_of_another_site_is_read() -> None:
    link = '<a href="https://tarn.gale-post.help/o365/?u=1">https://outlook.office365.com/mail/inbox</a>'
    html = f"<html><body><p>Phishing: its words are real, the target is not: {link}</p></body></html>"
    assert ("domain", "tarn.gale-post.help") in {
        (each.type, each.value) for each in extract(document_from_html(html)).indicators
    }
    same = '<p>Read <a href="https://gale.org/a/b">https://gale.org</a>, as always.</p>'
    assert document_from_html(same).text.strip() == "Read https://gale.org, as always."
