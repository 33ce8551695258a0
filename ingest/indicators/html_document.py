"""Turn a web page into a document: block by block, with the place of every piece; bounded, and never an exception."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from lxml import etree

from ingest.indicators.document import Document, Place, Region
from ingest.indicators.furniture import (
    ALWAYS_ASKED,
    holds_the_article,
    leads_to_a_network,
    looks_like_furniture,
    prose_in,
)
from ingest.indicators.noise import LOOKUP_SERVICES
from intel.suffixes import registered_domain

LONGEST_PAGE: Final = 20_000_000
MOST_LINKS: Final = 20_000
SHORT_LINE: Final = 7  # words
OPENING_LETTERS: Final = 24
LONGEST_OPENING: Final = 200
LONGEST_LOOKUP: Final = 200
SHORTEST_LOOKUP: Final = 4
LONGEST_DEFANGED_LINK: Final = 2_000
MOST_PIECES_OF_A_NOTE: Final = 8
LONGEST_NOTE: Final = 20
MOST_DOUBTS: Final = 64  # wrappers that look like furniture and hold the article; a page in earnest has a few

_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
        "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section",
        "select", "summary", "table", "tbody", "textarea", "tfoot", "thead", "title", "tr", "ul",
    }
)  # fmt: skip
_UNREAD: Final = frozenset(
    {"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video", "head"}
)
_PLACES: Final[dict[str, Place]] = {
    "table": "table",
    "pre": "code",
    "code": "code",
    "samp": "code",
    "kbd": "code",
    "ul": "list",
    "ol": "list",
}
_CELLS_AND_NOTES: Final = frozenset({"td", "th", "sup", "sub"})
_TELLING: Final = ALWAYS_ASKED | _PLACES.keys() | {"a"} | _CELLS_AND_NOTES
_BREAKS: Final = _BLOCKS | {"br"}
_KEPT_AS_WRITTEN: Final = frozenset({"pre", "textarea"})
_READ_OTHERWISE: Final = _UNREAD | _KEPT_AS_WRITTEN
_SPACES: Final = re.compile(r"[ \t\r\n\f\v\xa0]+")
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")
_FOOTNOTE: Final = re.compile(
    r"\s*(?:[\[(]?[0-9]{1,3}[\])]?(?:\s*[,\u2013-]\s*[0-9]{1,3})?|[a-z]|[\[(][a-z][\])]|[*\u2020\u2021])\s*"
)
# `https://gale-post[.]com/a`, `hxxps://…`: nobody can follow such a link, so that it is there to be read.
_DEFANGED_LINK: Final = re.compile(
    r"(?i)\s*(?:h(?:xx|\*\*|tt)ps?(?:\[?:\]?//|:\\\\)|)[^\s/]{0,200}\[[.:]\]|\s*h(?:xx|\*\*)ps?:"
)
_XML_INVALID: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def document_from_html(html: str, url: str | None = None, main_text: str | None = None) -> Document:
    """Return the text of a page with its places; `url` is the page's address, `main_text` what a reader took for the
    article.

    A page that cannot be parsed is read with its tags cut out. Pages beyond 20 MB are read up to there. Either is in
    the document's `limits`.
    """
    page = _XML_INVALID.sub("\ufffd", html[:LONGEST_PAGE])
    limits = ("page",) if len(html) > LONGEST_PAGE else ()
    try:
        return _walk(page, _host(url or ""), main_text, limits)
    except (etree.LxmlError, ValueError, MemoryError):
        text = _TAG.sub(" ", page)
        return Document(text, publisher_host=_host(url or ""), structured=True, limits=(*limits, "markup"))


@dataclass(slots=True)
class _Writer:
    """Collects the text and the places of its stretches."""

    pieces: list[str] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    length: int = 0
    last: str = "\n"
    doubts: int = 0
    prose_of_page: int | None = None
    _stretch: int = 0
    _counted: int = 0  # pieces in `length`

    def write(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self.last = text[-1]

    def add(self, text: str, *, as_written: bool = False) -> None:
        """Add text; in running text, white space counts as one blank."""
        if not (as_written or text.isalnum()):
            text = _SPACES.sub(" ", text)
            if text[:1] == " " and self.last in " \n\t":
                text = text[1:]
        self.write(text)

    def line_break(self) -> None:
        if self.last != "\n":
            self.write("\n")

    def enter(self, place: Place) -> None:
        self._finish_stretch()
        self.places.append(place)

    def leave(self) -> None:
        self._finish_stretch()
        self.places.pop()

    def _finish_stretch(self) -> None:
        self.length += sum(map(len, self.pieces[self._counted :]))
        self._counted = len(self.pieces)
        if self.places and self.length > self._stretch:
            self.regions.append(Region(self._stretch, self.length, self.places[-1]))
        self._stretch = self.length


def _walk(page: str, publisher_host: str, main_text: str | None, limits: tuple[str, ...]) -> Document:
    # Without `huge_tree` all is lost that nests more than 256 deep, and all that comes after it.
    parser = etree.HTMLParser(encoding="utf-8", recover=True, remove_comments=True, remove_pis=True, huge_tree=True)
    root = etree.fromstring(page.encode("utf-8"), parser)
    if len(parser.error_log.filter_from_fatals()):
        raise ValueError("the parser gave up")
    if root is None:
        return Document("", publisher_host=publisher_host, structured=True, limits=limits)
    writer = _Writer()
    writer.add(root.findtext(".//title") or "")
    writer.line_break()
    hosts = _write_tree(root, writer)
    text = "".join(writer.pieces)
    own_host = publisher_host or _own_host(root)
    asides = _asides(main_text, text)
    return Document(text, tuple(writer.regions), own_host, hosts, structured=True, asides=asides, limits=limits)


def _own_host(root: Any) -> str:
    """Return the host that a page names as its own address."""
    for element in root.iter("link", "meta"):
        if element.get("rel") == "canonical" and (host := _host(element.get("href") or "")):
            return host
        if element.get("property") == "og:url" and (host := _host(element.get("content") or "")):
            return host
    return ""


def _write_tree(root: Any, writer: _Writer) -> frozenset[str]:
    """Write every readable piece of the page; the hosts that it links to."""
    hosts: set[str] = set()
    placed: list[Any] = []
    kept_as_written = unread = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            if tag in _READ_OTHERWISE:
                unread += tag in _UNREAD
                kept_as_written += tag in _KEPT_AS_WRITTEN
            if unread:
                continue
            if tag in _BREAKS and writer.last != "\n":
                writer.write("\n")
            # Most elements have neither such a name nor attributes, and a hostile page has nothing else.
            if tag in _TELLING or element.attrib:
                _open(element, tag, writer, placed, hosts)
            text = element.text
        else:
            if not unread and (placed or tag in _BLOCKS or tag == "a"):
                _close(element, tag, writer, placed)
            if tag in _READ_OTHERWISE:
                unread -= tag in _UNREAD
                kept_as_written -= tag in _KEPT_AS_WRITTEN
            text = None if unread else element.tail
        if text:
            writer.add(text, as_written=kept_as_written > 0)
    return frozenset(hosts)


def _open(element: Any, tag: str, writer: _Writer, placed: list[Any], hosts: set[str]) -> None:
    if tag in ("td", "th") and writer.last not in "\n\t":
        writer.write("\t")
    elif tag in ("sup", "sub") and not writer.last.isspace() and _is_footnote(element):
        writer.write(" ")
    if tag == "a" and len(hosts) < MOST_LINKS and (host := _host(element.get("href") or "")):
        hosts.add(host)
    if (tag not in _CELLS_AND_NOTES or element.attrib) and (place := _place(element, tag, writer)) is not None:
        placed.append(element)
        writer.enter(place)


def _close(element: Any, tag: str, writer: _Writer, placed: list[Any]) -> None:
    if placed and placed[-1] is element:
        placed.pop()
        writer.leave()
    if tag == "a" and _DEFANGED_LINK.match(address := (element.get("href") or "")[:LONGEST_DEFANGED_LINK]):
        words = "".join(islice(element.itertext(), MOST_PIECES_OF_A_NOTE))
        if address.strip() not in words:
            writer.write(f" {_SPACES.sub('', address)} ")
    elif tag == "a" and _names_another_site(element):
        writer.write(f" {_SPACES.sub('', element.get('href')[:LONGEST_DEFANGED_LINK])} ")
    if tag in _BLOCKS and writer.last != "\n":
        writer.write("\n")


def _place(element: Any, tag: str, writer: _Writer) -> Place | None:
    if writer.places and writer.places[-1] == "boilerplate":
        return None
    if tag == "a":
        if leads_to_a_network(element):
            return "boilerplate"
        return "link_text" if _leads_elsewhere(element) else None
    if writer.doubts < MOST_DOUBTS and looks_like_furniture(element, tag):
        if writer.prose_of_page is None:
            writer.prose_of_page = prose_in(element.getroottree().getroot())
        if not holds_the_article(element, writer.prose_of_page):
            return "boilerplate"
        writer.doubts += 1
    return _PLACES.get(tag)


def _is_footnote(element: Any) -> bool:
    """Tell whether a raised figure belongs to a note and not to the word before it; `[.]` set small defangs a dot."""
    words = "".join(islice(element.itertext(), MOST_PIECES_OF_A_NOTE))
    return len(words) <= LONGEST_NOTE and _FOOTNOTE.fullmatch(words) is not None


def _leads_elsewhere(link: Any) -> bool:
    """Tell whether a link leads to another page, and not to a look-up service's page about the link's own words, or
    any page about the host that they name.
    """
    address = link.get("href") or ""
    host = _host(address)
    if not host:
        return False
    words = "".join(islice(link.itertext(), MOST_PIECES_OF_A_NOTE))[:LONGEST_LOOKUP].strip().replace("[.]", ".")
    if len(words) < SHORTEST_LOOKUP or words not in address:
        return True
    is_about_it = registered_domain(host) in LOOKUP_SERVICES
    return not is_about_it and not (address.endswith(("/" + words, "=" + words)) and _host(f"//{words}") == words)


def _names_another_site(link: Any) -> bool:
    """Tell whether the words of a link are the address of another site than it leads to."""
    words = (link.text or "").strip()
    named, led_to = _host(words), _host(link.get("href") or "")
    return bool(named and led_to) and registered_domain(named) != registered_domain(led_to)


def _asides(main_text: str | None, text: str) -> tuple[Region, ...]:
    """Return the running text of a page outside what a reader took for the article; short lines are left open."""
    if not main_text:
        return ()
    known = set(map(_opening, main_text.splitlines()))
    regions: list[Region] = []
    start = 0
    for line in text.split("\n"):
        is_running = "\t" not in line and len(line.split(maxsplit=SHORT_LINE)) > SHORT_LINE
        if is_running and (opening := _opening(line)) and opening not in known:
            regions.append(Region(start, start + len(line), "boilerplate"))
        start += len(line) + 1
    return tuple(regions)


def _opening(line: str) -> str:
    """Return the first letters of a line: readers differ in blanks, and in where they put a note's figure."""
    return "".join(filter(str.isalpha, line[:LONGEST_OPENING]))[:OPENING_LETTERS]


def _host(url: str) -> str:
    if not url.startswith(("http://", "https://", "//")):
        return ""
    try:
        return (urlsplit(url[:2048]).hostname or "").lower()
    except ValueError:
        return ""
