"""Read lists of feeds: a text with one address a line, or OPML. Pure but for `follow_all`, which adds them to a
store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ingest.fetch import FetchAllow, check_url
from intel.canonical import canonical_url
from intel.errors import ConfigurationError, IocError, RefusedUrl
from intel.ids import feed_id
from intel.records import Feed
from intel.store import Store

LONGEST_NAME: Final = 200
_LARGEST_LIST_BYTES: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class ListedFeed:
    """A feed as a list names it."""

    url: str
    name: str | None = None


def read_list(text: str) -> tuple[ListedFeed, ...]:
    """Return the feeds of a list: lines of an address and, after a space, its name, with `#` comments; or OPML."""
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return _read_opml(text)
    lines = (line.partition(" #")[0].strip() for line in text.lstrip("\ufeff").splitlines())
    parted = (line.split(None, 1) for line in lines if line and not line.startswith("#"))
    return tuple(ListedFeed(url, name[0] if name else None) for url, *name in parted)


def read_list_file(path: Path) -> tuple[ListedFeed, ...]:
    """Return the feeds that a file lists. Raises ConfigurationError if it cannot be read."""
    try:
        with path.open("rb") as file:
            body = file.read(_LARGEST_LIST_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror})") from None
    if len(body) > _LARGEST_LIST_BYTES:
        raise ConfigurationError(f"{path} is larger than a list of feeds may be")
    return read_list(body.decode("utf-8", "replace"))


def starter_list() -> tuple[ListedFeed, ...]:
    """Return well-known public feeds of security research and advisories."""
    return read_list((files("ingest") / "starter_feeds.txt").read_text("utf-8"))


def new_feed(listed: ListedFeed, allow: FetchAllow, now: datetime, *, enabled: bool = True) -> Feed:
    """Return a feed that is to be polled at once. Raises RefusedUrl if its address may not be fetched."""
    url = str(check_url(listed.url, allow))
    name = _clean(listed.name or "") or _clean(urlsplit(url).hostname or url)
    return Feed(feed_id(canonical_url(url)), url, name, created_at=now, next_poll_at=now, enabled=enabled)


def can_be_followed(listed: ListedFeed, allow: FetchAllow) -> bool:
    """Say whether the address of a listed feed may be fetched, judged by its form."""
    try:
        check_url(listed.url, allow)
    except RefusedUrl:
        return False
    return True


async def follow_all(
    store: Store, listed: Iterable[ListedFeed], allow: FetchAllow, now: datetime, *, enabled: bool = True
) -> tuple[list[Feed], list[tuple[ListedFeed, str]]]:
    """Add the feeds that are not there yet; return them, and those that cannot be added with the reason."""
    added, refused = [], []
    for one in listed:
        try:
            feed = new_feed(one, allow, now, enabled=enabled)
        except IocError as error:
            refused.append((one, getattr(error, "detail", None) or str(error)))
            continue
        if await store.feeds.add(feed):
            added.append(feed)
    return added, refused


class _Outlines(HTMLParser):
    """Collects the outlines of OPML with an HTML parser, which knows no entities of the file's own and is lenient."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[ListedFeed] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        members = dict(attrs)
        url = (members.get("xmlurl") or "").strip()
        if tag == "outline" and url:
            self.found.append(ListedFeed(url, members.get("title") or members.get("text")))


def _read_opml(text: str) -> tuple[ListedFeed, ...]:
    outlines = _Outlines()
    outlines.feed(text)
    outlines.close()
    return tuple(outlines.found)


def _clean(name: str) -> str:
    """Return a name that submissions accept: printable, in one line, not too long."""
    printable = "".join(c if c.isprintable() else " " for c in name)
    return " ".join(printable.split())[:LONGEST_NAME].strip()
