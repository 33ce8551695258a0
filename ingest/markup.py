"""Make HTML safe to parse, in time proportional to its length whatever its author writes.

Measured: libxml2 takes time in the square of one tag's attributes, and drops what is nested deeper than 2,048 elements.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

import lxml.html
from lxml import etree

_LONGEST_ATTRIBUTES: Final = 4096
_TAG_START: Final = re.compile(r"<[A-Za-z][^\s/<>]{0,64}+")
_TAG: Final = re.compile(r"<(?:!--|[/!?]?+(?P<name>[A-Za-z][^\s/<>]*+)[^<>]*+>)")
_CLOSING: Final = {name: re.compile(rf"</{name}", re.I) for name in ("script", "style")}
# Nobody fills in the forms of a page: to look up a class for each element, as `lxml.html` does, takes longer than what
# is asked of most elements.
_ALL_ALIKE: Final = etree.ElementDefaultClassLookup(
    element=lxml.html.HtmlElement,
    comment=lxml.html.HtmlComment,
    pi=lxml.html.HtmlProcessingInstruction,
    entity=lxml.html.HtmlEntity,
)
_INLINE_NAMES: Final = (
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong "
    "sub sup tt u var wbr"
)
_INLINE: Final = frozenset(_INLINE_NAMES.split())


@dataclass(frozen=True, slots=True)
class Markup:
    """A page's source, cut down where it is absurd; `tree` is None if the parser lost some of it."""

    source: str
    tree: lxml.html.HtmlElement | None

    @property
    def tags(self) -> int:
        """Return an upper bound of how many tags there are."""
        return self.source.count("<")


def parse(source: str) -> Markup:
    """Parse HTML; a tag with more than 4,096 characters of attributes, such as an inlined picture, loses them all."""
    segments = source.split(">")
    if max(map(len, segments)) > _LONGEST_ATTRIBUTES:
        source = ">".join(map(_slim, segments))
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
    parser.set_element_class_lookup(_ALL_ALIKE)
    try:
        tree = lxml.html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError):
        return Markup(source, None)
    lost = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return Markup(source, None if lost else tree)


def is_deeper(tree: lxml.html.HtmlElement, levels: int) -> bool:
    """Tell whether elements of a tree are nested deeper than that."""
    return bool(_beyond(levels)(tree))


@cache
def _beyond(levels: int) -> etree.XPath:
    return etree.XPath(f"boolean(/*{'/*' * levels})")


def text_of_source(source: str) -> str:
    """Return all visible text of a page's source, for pages too large or too strange for anything cleverer."""
    parts: list[str] = []
    position = 0
    while tag := _TAG.search(source, position):
        parts.append(source[position : tag.start()])
        if (tag["name"] or "").lower() not in _INLINE:
            parts.append("\n")
        position = _end_of(source, tag)
    parts.append(source[position:])
    lines = (line.strip() for line in html.unescape("".join(parts)).split("\n"))
    return "\n".join(filter(None, lines))


def _slim(segment: str) -> str:
    """Return a piece of source up to a `>`, without its tag's attributes if they are absurdly long."""
    if len(segment) <= _LONGEST_ATTRIBUTES:
        return segment
    start = _TAG_START.search(segment)
    if start is None or len(segment) - start.end() <= _LONGEST_ATTRIBUTES:
        return segment
    return segment[: start.end()]


def _end_of(source: str, tag: re.Match[str]) -> int:
    """Return where reading continues after a tag: behind a whole comment, script or style sheet."""
    if tag["name"] is None:
        end = source.find("-->", tag.end())
        return len(source) if end < 0 else end + 3
    closing = _CLOSING.get(tag["name"].lower()) if source[tag.start() + 1] not in "/!?" else None
    if closing is None:
        return tag.end()
    end_tag = closing.search(source, tag.end())
    return end_tag.start() if end_tag else len(source)
