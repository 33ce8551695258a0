"""The article is read as such whatever its template calls the box around it."""

from __future__ import annotations

from ingest.indicators import document_from_html, extract
from tests.cases import each

PROSE = (
    "The operators sent letters to shipping firms, and the loader that they carried asked its server for orders. " * 6
)
BESIDE = (
    '<div class="sidebar widget"><p>Older posts: CVE-2019-1111 was popular here some long time ago, they say.</p></div>'
)


@each(
    ("before", "after"),
    [
        (
            '<div class="widget Blog" id="Blog1"><div class="post hentry"><h3 class="post-title">Storm</h3>'
            '<div class="post-body entry-content">',
            "</div></div></div>",
        ),
        ('<div class="comments-wrapper widget"><div itemprop="articleBody">', "</div></div>"),
        ('<form class="aspNetForm"><div class="promo">', "</div></form>"),
        ('<aside class="newsletter-page">', "</aside>"),
    ],
)
def test_what_holds_most_of_a_pages_prose_is_its_article(before: str, after: str) -> None:
    page = f"<html><body>{before}<p>{PROSE}</p><p>It exploits CVE-2023-1234 too.</p>{after}{BESIDE}</body></html>"
    assert [indicator.value for indicator in extract(document_from_html(page)).indicators] == ["CVE-2023-1234"]
