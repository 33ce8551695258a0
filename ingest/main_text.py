"""What trafilatura tells of a page: its readable part, and what the page says of itself. The one file that knows it.

Pure. Takes a tree, and leaves it as it is.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

import lxml.html
import trafilatura
from htmldate import find_date
from lxml import etree
from trafilatura import metadata
from trafilatura.settings import Document, set_date_params

from ingest.indicators.piece_search import PieceSearch

LEAST_TEXT: Final = 20
_MOST_BREAKS: Final = 100
_LONG_LINE: Final = 40
_SHORT_WORD: Final = re.compile(r"\s{0,100}\w[\w-]{0,11}\s{0,100}")
# A character that means nothing: for private use.
_KEPT: Final = "\ue0f1"
# Whom trafilatura takes for an author stands in an element with one of these words in an attribute. To look for the
# elements costs as much as to find the text.
_BYLINE: Final = PieceSearch(
    (
        *("author", "byl", "bbl", "username", "zuozhe", "bianji", "xiaobian", "channel-name", "submitted-by"),
        *("posted-by", "journalist-name", "screenname", "writer"),
    )
)
_LONGEST_TAG: Final = 4_096


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page says of itself, as it says it: bounded by nothing."""

    title: str | None = None
    author: str | None = None
    site_name: str | None = None
    description: str | None = None
    date: str | None = None


def main_text(tree: lxml.html.HtmlElement) -> tuple[str, etree._Element | None]:
    """Return the readable part of a page with the tree that it was written from, or all of its text."""
    prepared = _cells_kept(_captions_told(deepcopy(tree)))
    text, body = _found_text(prepared)
    if text and _loses_lines(text, tree):
        text, body = max((text, body), _found_text(prepared, favor_recall=True), key=lambda found: len(found[0]))
    if len(text) >= LEAST_TEXT:
        return text, body
    return trafilatura.html2txt(deepcopy(tree)), None


def facts_of(tree: lxml.html.HtmlElement, source: str, url: str | None, *, dated: bool) -> PageFacts:
    """Return what a page with this source says of itself; its date is looked for where it is not known (`dated`)."""
    try:
        return _facts_of(tree, source, url, dated=dated)
    except Exception:  # hostile markup finds errors of every kind in there; a title is found without it
        return PageFacts()


def _facts_of(tree: lxml.html.HtmlElement, source: str, url: str | None, *, dated: bool) -> PageFacts:
    """Do as trafilatura's `extract_metadata`, without what nobody asks for: licences, tags and categories, and a
    byline on pages that have none.
    """
    found = metadata.examine_meta(tree)
    if found.author and " " not in found.author:
        found.author = None
    found = _with_json(tree, found)
    found.title = found.title or metadata.extract_title(tree)
    if not found.author and _may_name_an_author(source):
        found.author = metadata.extract_author(tree)
    found.url = found.url or metadata.extract_url(tree, url)
    if not dated:
        found.date = find_date(tree, **set_date_params(extensive=False), url=found.url)
    found.sitename = _site_name(tree, found)
    found.clean_and_trim()
    return PageFacts(found.title, found.author, found.sitename, found.description, found.date)


def _with_json(tree: lxml.html.HtmlElement, found: Document) -> Document:
    try:
        return metadata.extract_meta_json(tree, found)
    except Exception:  # as above
        return found


def _may_name_an_author(source: str) -> bool:
    lower = source.lower()
    return any(_is_in_a_tag(lower, place) for places in _BYLINE.places(lower).values() for place in places)


def _is_in_a_tag(source: str, place: int) -> bool:
    before = max(0, place - _LONGEST_TAG)
    return source.rfind(">", before, place) <= source.rfind("<", before, place)


def _site_name(tree: lxml.html.HtmlElement, found: Document) -> str | None:
    """Return what the site calls itself, a word in small letters with capitals, or else its host."""
    named = (found.sitename or metadata.extract_sitename(tree) or "").lstrip("@")
    if not named:
        host = metadata.META_URL.match(found.url or "")
        return host[1] if host else None
    is_a_host = "." in named
    return named if is_a_host or named[0].isupper() else named.title()


def _found_text(prepared: lxml.html.HtmlElement, *, favor_recall: bool = False) -> tuple[str, etree._Element | None]:
    try:
        found = trafilatura.bare_extraction(
            prepared, include_comments=False, include_tables=True, favor_recall=favor_recall
        )
    except Exception:  # as above; the whole text is always to be had
        return "", None
    return _without_marks(found) if isinstance(found, Document) else ("", None)


def _captions_told(tree: lxml.html.HtmlElement) -> lxml.html.HtmlElement:
    """Make the captions of tables paragraphs before them: trafilatura writes one over the first cell of its table."""
    for caption in [*tree.iter("caption")]:
        table = caption.getparent()
        if table is not None and table.tag == "table" and table.getparent() is not None:
            caption.tag = "p"
            table.addprevious(caption)
    return tree


def _cells_kept(tree: lxml.html.HtmlElement) -> lxml.html.HtmlElement:
    """Mark cells of one short word: trafilatura takes `Mail`, `PDF` or `Google` for a button and empties the cell."""
    for cell in tree.iter("td", "th"):
        for element in cell.iter():
            if element.text and _SHORT_WORD.fullmatch(element.text):
                element.text = element.text.rstrip() + _KEPT
    return tree


def _without_marks(found: Document) -> tuple[str, etree._Element | None]:
    for element in found.body.iter() if found.body is not None else ():
        if element.text and _KEPT in element.text:
            element.text = element.text.replace(_KEPT, "")
        if element.tail and _KEPT in element.tail:
            element.tail = element.tail.replace(_KEPT, "")
    return (found.text or "").replace(_KEPT, ""), found.body


def _loses_lines(text: str, tree: lxml.html.HtmlElement) -> bool:
    """Tell whether long lines between breaks are missing: beside a table trafilatura drops what stands in no
    paragraph.
    """
    kept = "".join(text.split())
    for _, br in zip(range(_MOST_BREAKS), tree.iter("br"), strict=False):
        line = "".join((br.tail or "")[: _LONG_LINE * 3].split())[:_LONG_LINE]
        if len(line) == _LONG_LINE and line not in kept:
            return True
    return False
