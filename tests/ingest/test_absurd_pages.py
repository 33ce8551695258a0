"""Pages that are nested, long or broken beyond reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intel.errors import ArticleUnreadable
from tests.cases import each
from tests.ingest.test_article_text import PROSE, iocs, page, read


@each("depth", [200, 250, 260, 1000, 2000, 2100])
def test_nothing_is_lost_around_the_depths_at_which_parsers_give_up(depth: int) -> None:
    article = read("<div>" * depth + f"<p>{PROSE}</p>" + "</div>" * depth + f"<p>evil[.]example. {PROSE}</p>")
    assert PROSE in article.text
    assert "evil[.]example" in article.text
    assert bool(article.notes) == (depth > 250)


def test_words_that_are_marked_up_in_parts_stay_whole_on_absurd_pages() -> None:
    article = read("<div>" * 5000 + "ev<b>il</b>[.]exam<wbr>ple<td>next &amp; last<script>no()</script>" + PROSE)
    assert article.text.startswith("evil[.]example\nnext & last\n")


def test_a_very_long_page_keeps_every_indicator_and_says_so() -> None:
    article = read(page("<ul>" + "".join(f"<li>{ioc}</li>" for ioc in iocs(20_000)) + "</ul>"))
    assert all(ioc in article.text for ioc in iocs(20_000)[::997])
    assert "too large" in article.notes[0]


@pytest.mark.slow
@given(st.binary(max_size=400))
def test_whatever_the_bytes_only_one_kind_of_error_comes_out(body: bytes) -> None:
    for kind in ("text/html", "text/plain", "text/markdown", "application/pdf", ""):
        try:
            read(b"<html>" + body if kind == "text/html" else body, kind)
        except ArticleUnreadable as error:
            assert error.reason in ("no_text", "unsupported_content_type", "script_only", "login_wall", "pdf_damaged")


def test_lines_between_breaks_are_kept_beside_a_table() -> None:
    lines = [
        f"On day {n} the operators moved from the mail server to the next machine and waited there." for n in range(9)
    ]
    rows = "".join(f"<tr><td>h{n}[.]kestrel-files[.]net</td><td>{n:064x}</td></tr>" for n in range(30))
    article = read(page(f"<div class=col><h1>x</h1><div>{'<br><br>'.join(lines)}</div><table>{rows}</table></div>"))
    assert all(line in article.text for line in lines)
    assert "h29[.]kestrel-files[.]net" in article.text
