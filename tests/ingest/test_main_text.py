"""What a page says of itself is found where pages say it."""

from __future__ import annotations

import lxml.html
import pytest

from ingest.main_text import facts_of

TEXT = "<p>The loader asks its panel every night, and the panel answers with a list of files.</p>"


def facts(head: str, body: str, *, dated: bool = True) -> tuple[str | None, str | None, str | None]:
    source = f"<html><head>{head}</head><body>{body}{TEXT}</body></html>"
    found = facts_of(lxml.html.fromstring(source), source, "https://blog.example.org/a", dated=dated)
    return found.title, found.author, found.date


@pytest.mark.parametrize(
    "byline",
    [
        '<span class="byline">By <a rel="author">Quinn Abernathy</a></span>',
        '<div class="post-author">Quinn Abernathy</div>',
    ],
)
def test_an_author_is_found_in_a_byline(byline: str) -> None:
    assert facts("<title>A loader</title>", byline) == ("A loader", "Quinn Abernathy", None)


def test_a_word_of_a_sentence_makes_no_byline() -> None:
    assert facts("<title>A loader</title>", "<p>Its author, Quinn Abernathy, was arrested.</p>")[1] is None


def test_a_date_is_looked_for_only_where_none_is_known() -> None:
    head = '<title>A loader</title><meta property="article:published_time" content="2026-03-04T05:06:07Z">'
    assert facts(head, "", dated=False)[2] == "2026-03-04"
    assert facts("<title>A loader</title>", '<time datetime="2026-03-04">4 March</time>', dated=True)[2] is None
    assert (
        facts("<title>A loader</title>", '<time datetime="2026-03-04">4 March</time>', dated=False)[2] == "2026-03-04"
    )


def test_markup_that_breaks_the_finding_leaves_a_page_without_facts() -> None:
    assert facts('<script type="application/ld+json">{"@type": [[[[</script>', "") == (None, None, None)
