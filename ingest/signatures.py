"""How a page writes its title and its author: without its site's name, and with every full stop. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

import lxml.html

_SUFFIX: Final = re.compile(r"\s+[|\u2013\u2014\u00b7\u2022\u00bb\u2223:-]{1,2}\s+(?P<site>\S.{0,80})", re.S)
_LEAST_TITLE: Final = 8
_MOST_ELEMENTS: Final = 200
_LONGEST_NAME: Final = 400
_AUTHORS: Final = frozenset({"author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "byl"})
_BYLINES: Final = frozenset({"author", "byline", "post-author", "entry-author", "author-name", "p-author", "vcard"})


def without_site(title: str, tree: lxml.html.HtmlElement, site_name: str | None) -> str:
    """Return a title without the site's name behind it: behind what the page gives as its heading, or the very name."""
    for heading in _headings(tree):
        if len(heading) >= _LEAST_TITLE and title.startswith(heading) and _SUFFIX.fullmatch(title, len(heading)):
            return heading
    name = " ".join((site_name or "").split())
    if name and title.endswith(name) and _SUFFIX.fullmatch(title, len(short := _head(title, name))):
        return short or title
    return title


def _head(title: str, name: str) -> str:
    return title[: -len(name)].rstrip().rstrip("|\u2013\u2014\u00b7\u2022\u00bb\u2223:-").rstrip()


def _headings(tree: lxml.html.HtmlElement) -> Iterator[str]:
    for meta in islice(tree.iter("meta"), _MOST_ELEMENTS):
        if meta.get("property") == "og:title":
            yield " ".join((meta.get("content") or "").split())
    for heading in islice(tree.iter("h1"), 3):
        yield _words(heading)


def as_signed(author: str | None, tree: lxml.html.HtmlElement) -> str | None:
    """Return authors as the page spells them: a reader of names drops the full stop of an initial."""
    if not author:
        return author
    spelt = {_letters(name): name for name in _names(tree)}
    whole = spelt.get(_letters(author))
    return whole or "; ".join(spelt.get(_letters(name), name) for name in author.split("; "))


def _names(tree: lxml.html.HtmlElement) -> Iterator[str]:
    for element in islice(tree.iter("a", "span", "p", "div", "address"), _MOST_ELEMENTS * 10):
        marks = f"{element.get('rel') or ''} {element.get('itemprop') or ''} {element.get('class') or ''}"
        if not _BYLINES.isdisjoint(marks.lower().split()):
            yield re.sub(r"(?i)^(?:written\s+)?by:?\s+", "", _words(element))
    for meta in islice(tree.iter("meta"), _MOST_ELEMENTS):
        if (meta.get("name") or meta.get("property") or "").lower() in _AUTHORS:
            yield from (name.strip() for name in (meta.get("content") or "")[:_LONGEST_NAME].split(";"))


def _words(element: lxml.html.HtmlElement) -> str:
    return " ".join("".join(islice(element.itertext(), 20))[:_LONGEST_NAME].split())


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()
