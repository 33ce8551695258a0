"""Lessons' Markdown as markup: the one file that knows markdown-it and nh3."""

from __future__ import annotations

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

_LINK_RELATION = "noopener noreferrer nofollow"
_TAGS = {"p", "h2", "h3", "h4", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "a", "br", "hr"}


def lesson_markup(written: str) -> Markup:
    """Return Markdown as clean HTML; headings begin below the page's own."""
    html = MarkdownIt("commonmark", {"html": False}).render(written)
    html = html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    clean = nh3.clean(
        html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"https", "http"}, link_rel=_LINK_RELATION
    )
    return Markup(clean)  # noqa: S704 - nh3 has just cleaned it
