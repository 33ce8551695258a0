"""An article as it was written: its blocks, its title and its author."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from intel.text_blocks import read_blocks
from tests.cases import each
from tests.examples import examples
from tests.ingest.test_article_text import PROSE, URL, page, read


def test_the_blocks_of_a_page_are_kept_as_they_were_written() -> None:
    written = (
        f"<h1>Loader</h1><h2>Chain</h2><p>{PROSE}<br>It ran\n<code>whoami</code> at\nonce.</p>"
        "<ul><li>one item<ul><li>a deeper one</li></ul></li></ul><ol><li>first step</li><li>second step</li></ol>"
        "<pre><code>curl x\n  -o y | sh\nexit</code></pre><h2>Hosts</h2><pre>weir[.]example\n  sluice[.]example</pre>"
        "<blockquote><p>It was quick, said the clerk.</p></blockquote>"
        "<table><tr><th>Host</th><th>Role</th></tr><tr><td>barge[.]example</td><td>C2 | spare</td></tr></table>"
        f"<p>{PROSE}</p>"
    )
    article = read(f"<html><body><article>{written}</article></body></html>")
    blocks = read_blocks(article.structure, len(article.text))
    told = [
        (block.kind, block.level, [[article.text[a:b] for a, b in row] for row in block.rows])
        for block in blocks
        if block.kind != "paragraph"
    ]
    assert told == [
        ("heading", 1, [["Loader"]]),
        ("heading", 2, [["Chain"]]),
        ("list", 1, [["one item"]]),
        ("list", 2, [["a deeper one"]]),
        ("numbers", 1, [["first step"], ["second step"]]),
        ("code", 0, [["curl x"], ["  -o y | sh"], ["exit"]]),
        ("heading", 2, [["Hosts"]]),
        ("code", 0, [["weir[.]example"], ["  sluice[.]example"]]),
        ("quote", 0, [["It was quick, said the clerk."]]),
        ("table", 1, [["Host", "Role"], ["barge[.]example", "C2 \\| spare"]]),
    ]
    assert "It ran whoami at once." in [
        " ".join(article.text[a:b].split()) for block in blocks for row in block.rows for a, b in row
    ]


def test_the_caption_of_a_table_stands_before_it_and_takes_no_cell() -> None:
    table = (
        "<table><caption>Hosts of\n<b>Kestrel</b></caption><thead><tr><th>Host</th><th>Role</th></tr></thead>"
        "<tbody><tr><td>barge[.]example</td><td>C2</td></tr></tbody></table>"
    )
    article = read(f"<html><body><article><p>{PROSE}</p>{table}<p>{PROSE}</p></article></body></html>")
    blocks = [
        (block.kind, [[" ".join(article.text[a:b].split()) for a, b in row] for row in block.rows])
        for block in read_blocks(article.structure, len(article.text))
    ]
    prose = ("paragraph", [[PROSE]])
    assert blocks == [
        prose,
        ("paragraph", [["Hosts of Kestrel"]]),
        ("table", [["Host", "Role"], ["barge[.]example", "C2"]]),
        prose,
    ]
    plain = read(f"<html><body><article><p>{PROSE}</p>{table}<p>{PROSE}</p></article></body></html>").text
    assert "|Host|Role|" in "".join(plain.split(" "))


def test_cells_without_words_and_of_one_short_word_keep_their_columns() -> None:
    table = (
        "<table><thead><tr><th>Mail</th><th></th><th>Remark</th></tr></thead><tbody>"
        "<tr><td></td><td>barge[.]example</td><td>Google</td></tr><tr><td>2</td><td>PDF</td><td></td></tr></tbody></table>"
    )
    article = read(f"<html><body><article><p>{PROSE}</p>{table}<p>{PROSE}</p></article></body></html>")
    (found,) = [block for block in read_blocks(article.structure, len(article.text)) if block.kind == "table"]
    cells = [[article.text[a:b] for a, b in row] for row in found.rows]
    assert cells == [["Mail", "", "Remark"], ["", "barge[.]example", "Google"], ["2", "PDF"]]
    assert "| Mail |  | Remark |" in article.text
    assert "\ue0f1" not in article.text


@settings(max_examples=examples(60))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["p", "h2", "li", "pre", "blockquote", "td", "b"]),
            st.text(alphabet="ab.|-\\ \n\t", max_size=30),
        ),
        max_size=12,
    )
)
def test_no_word_of_a_text_is_lost_among_its_blocks(pieces: list[tuple[str, str]]) -> None:
    inside = "".join(f"<{tag}>word {words}</{tag}>" for tag, words in pieces)
    article = read(f"<article><h2>Head</h2><p>{PROSE}</p>{inside}<p>{PROSE}</p></article>")
    blocks = read_blocks(article.structure, len(article.text))
    kept = "".join(article.text[a:b] for block in blocks for row in block.rows for a, b in row)
    assert not blocks or [c for c in kept if c.isalpha()] == [c for c in article.text if c.isalpha()]


@each("written", ["[", "[[9,0,[0,1]]]", "[[0,0,[5,2]]]", "[[0,0,[0,99]]]", "[[0,0]]", '[["a",0,[0]]]'])
def test_blocks_that_do_not_fit_their_text_are_none(written: str) -> None:
    assert read_blocks(written, 10) == []


@each(
    ("head", "title"),
    [
        ("<title>Loader returns | Harbour Watch</title>", "Loader returns"),
        ("<title>Loader returns - Harbour  Watch</title>", "Loader returns"),
        ("<title>Harbour Watch</title>", "Harbour Watch"),
    ],
)
@each("url", [URL, None])
def test_a_title_is_without_the_name_of_its_site(head: str, title: str, url: str | None) -> None:
    site = '<meta property="og:site_name" content="Harbour Watch">'
    assert read(page("", head + site), url=url).title == title


def test_a_title_is_without_the_name_that_stands_behind_the_heading() -> None:
    assert read(page("<h1>The loader returns</h1>", "<title>The loader returns :: Labs</title>")).title == (
        "The loader returns"
    )


def test_an_author_keeps_the_full_stop_of_an_initial() -> None:
    assert read(page("", '<meta name="author" content="Q. Abernathy">')).author == "Q. Abernathy"
    assert read(page('<p>By <a rel="author" href="/x">J. R. Marsh</a></p>')).author == "J. R. Marsh"
