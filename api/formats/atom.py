"""Atom 1.0 (RFC 4287): entries as a feed reader takes them, their texts cleaned of what XML does not allow."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree

from api.web.text import clipped
from intel.ids import NAMESPACE
from intel.times import rfc3339
from intel.unseen import plain

MEDIA_TYPE = "application/atom+xml"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_GENERATOR = "IOC Intelligence"
_LONGEST_TITLE = 300
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; `id` is a UUID, `page` and `via` are absolute addresses: of our page, and of where it comes from."""

    id: str
    title: str
    updated: datetime
    published: datetime | None
    page: str
    content: str
    author: str = ""
    categories: tuple[str, ...] = ()
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed; `name` tells it from all others, `updated` stands where it has no entries."""

    name: str
    title: str
    address: str
    page: str
    updated: datetime
    entries: Sequence[Entry]


def stable_id(*parts: str) -> str:
    """Return the UUID that always stands for what is named so."""
    return str(uuid.uuid5(NAMESPACE, "\n".join(("atom", *parts))))


def atom(feed: Feed) -> bytes:
    """Return the feed as a document."""
    root = ElementTree.Element("feed", {"xmlns": _NAMESPACE, "xml:lang": "en"})
    _add(root, "id", f"urn:uuid:{stable_id('feed', feed.name)}")
    _add(root, "title", clipped(feed.title, _LONGEST_TITLE))
    updated = max((entry.updated for entry in feed.entries), default=feed.updated)
    _add(root, "updated", rfc3339(updated))
    _add(root, "generator", _GENERATOR)
    _add(_add(root, "author"), "name", _GENERATOR)
    _link(root, "self", feed.address, MEDIA_TYPE)
    _link(root, "alternate", feed.page, "text/html")
    for entry in feed.entries:
        _entry(_add(root, "entry"), entry)
    document: str = ElementTree.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{document}\n'.encode()


def _entry(element: ElementTree.Element, entry: Entry) -> None:
    _add(element, "id", f"urn:uuid:{entry.id}")
    _add(element, "title", clipped(" ".join(plain(entry.title).split()), _LONGEST_TITLE) or "(no title)")
    _add(element, "updated", rfc3339(entry.updated))
    if entry.published:
        _add(element, "published", rfc3339(entry.published))
    if author := plain(entry.author).strip():
        _add(_add(element, "author"), "name", author)
    for category in entry.categories:
        ElementTree.SubElement(element, "category", term=_clean(category))
    _link(element, "alternate", entry.page, "text/html")
    if entry.via:
        _link(element, "via", entry.via)
    _add(element, "content", entry.content).set("type", "text")


def _add(parent: ElementTree.Element, name: str, text: str = "") -> ElementTree.Element:
    child = ElementTree.SubElement(parent, name)
    child.text = _clean(text) or None
    return child


def _link(parent: ElementTree.Element, relation: str, address: str, type: str = "") -> None:
    link = ElementTree.SubElement(parent, "link", rel=relation, href=_clean(address))
    if type:
        link.set("type", type)


def _clean(text: str) -> str:
    return _NOT_XML.sub("", plain(text))
