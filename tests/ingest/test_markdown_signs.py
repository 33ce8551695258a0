from __future__ import annotations

import time

import pytest

from ingest.article_text import read_article
from ingest.markdown_signs import without_signs
from tests.cases import each


@each(
    ("body", "title", "summary"),
    [
        (
            "> From: [elsewhere](https://x.example/1)\n\n# **Barge**, a `loader`\n",
            "Barge, a loader",
            "From: elsewhere Barge, a loader",
        ),
        ("![](logo.png)\n<br/>\n## The _new_ Barge\n", "The new Barge", "The new Barge"),
        ("![A barge](logo.png)\nIt came __twice__.\n", "A barge", "A barge It came twice."),
        ("| Family | Hash |\n|---|:--|\n| Barge | 1 |\n", "Family · Hash", "Family · Hash Barge · 1"),
        ("Notes\n=====\n\n```sh\nrm *.exe *.dll my_own_file\n```\n", "Notes", "Notes rm *.exe *.dll my_own_file"),
        ("a < b and <https://evil.example>", "a < b and https://evil.example", "a < b and https://evil.example"),
    ],
)
def test_titles_and_summaries_bear_no_signs_of_markdown(body: str, title: str, summary: str) -> None:
    article = read_article(body.encode(), "text/plain", None, None)
    assert (article.title, article.summary) == (title, summary)


def test_a_page_has_no_signs_of_markdown_to_lose() -> None:
    page = (
        b"<html><body><p>It wrote &lt;iframe src=x&gt; and **stars** into every page that it found.</p></body></html>"
    )
    assert read_article(page, "text/html", None, None).summary.startswith("It wrote <iframe src=x> and **stars**")


@pytest.mark.slow
def test_the_signs_of_hostile_markdown_are_read_in_linear_time() -> None:
    took = {}
    for size in (20_000, 40_000):
        texts = [
            sign * (size // len(sign)) for sign in ("*", "![", "[](", "`a", "**a", "_a", "| -", "> ", "<a", "<https://")
        ]
        begun = time.process_time()
        for text in texts:
            without_signs(text)
        took[size] = time.process_time() - begun
    assert took[40_000] < 3 * took[20_000] + 0.05
