"""Define what is read: a text, and what is known of where its pieces stood."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final, Literal

Place = Literal["main", "table", "code", "list", "ioc_section", "link_text", "boilerplate"]

_OWN_ADDRESS: Final = re.compile(
    r"(?im)\A(?:[^\n]{0,300}\n){0,4}?(?:url|source|link|original|permalink):[ \t]*(?P<url>https?://[^\s/]{4,253})"
)


@dataclass(frozen=True, slots=True)
class Region:
    """The characters `start:end` of a text stood in `place`."""

    start: int
    end: int
    place: Place


@dataclass(frozen=True, slots=True)
class Document:
    """A text with what is known about it.

    `regions` are sorted and do not overlap; `asides` are sorted stretches of running text outside of what a
    reader took for the article; `publisher_host` is the host of the article; `linked_hosts` are the hosts that
    the page links to; `structured` says that the text was read from markup; `limits` names the limits that were
    reached in reading it: `page` (it was longer than is read), `markup` (its tags nest too deeply to tell places).
    """

    text: str
    regions: tuple[Region, ...] = ()
    publisher_host: str = ""
    linked_hosts: frozenset[str] = field(default_factory=frozenset)
    structured: bool = False
    asides: tuple[Region, ...] = ()
    limits: tuple[str, ...] = ()

    def place(self, position: int) -> Place:
        """Return the place of a character; `main` if nothing else is known."""
        place = _place_in(self.regions, position)
        return _place_in(self.asides, position) if place == "main" else place

    def in_template(self, position: int) -> bool:
        """Tell whether the page's own markup says that a character belongs to the page around the article."""
        return _place_in(self.regions, position) == "boilerplate"


def _place_in(regions: tuple[Region, ...], position: int) -> Place:
    index = bisect_right(regions, position, key=_start) - 1
    return regions[index].place if index >= 0 and position < regions[index].end else "main"


def _start(region: Region) -> int:
    return region.start


def document_from_text(text: str) -> Document:
    """Return the document of a plain text; a line `url:` or `source:` among its first names the article's own
    address.
    """
    own = _OWN_ADDRESS.match(text, 0, 2000)
    host = re.sub(r"^https?://(?:[^@/]*@)?|:\d*$", "", own["url"]).lower() if own else ""
    return Document(text, publisher_host=host)
