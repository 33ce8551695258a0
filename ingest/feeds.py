"""Read feeds (RSS, Atom, JSON Feed): the one file that knows feedparser.

Pure, from values to values, so that it runs in a process that can be killed.
"""

from __future__ import annotations

import calendar
import io
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urljoin

import feedparser

from ingest.body import decode
from ingest.fetch import FetchAllow, check_url
from intel.canonical import canonical_url
from intel.errors import ArticleUnreadable, NotAnIndicator, RefusedUrl

FEED_TYPES: Final = frozenset(
    {
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
        "application/json",
        "application/xml",
        "text/xml",
        # Declared wrongly by many sites; what is no feed is told by its bytes.
        "application/octet-stream",
        "text/html",
        "text/plain",
    }
)
LARGEST_FEED_BYTES: Final = 5 * 1024 * 1024
MOST_ENTRIES: Final = 200
MOST_READ_ENTRIES: Final = 2_000

_ENTRY_START: Final = re.compile(rb"<(?:[A-Za-z0-9]{1,20}:)?(?:item|entry)[\s>]")
LONGEST_REST_SECONDS: Final = 86_400
_PERIODS: Final = {"hourly": 3600, "daily": LONGEST_REST_SECONDS, "weekly": 7 * LONGEST_REST_SECONDS}


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One article that a feed announces; `link` is an address that may be fetched."""

    link: str
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReadFeed:
    """What a feed says: its newest entries, newest first, and how long it asks to wait before the next poll."""

    entries: tuple[FeedEntry, ...]
    rest_seconds: int


def read_feed(body: bytes, content_type: str, charset: str | None, url: str, allow: str) -> ReadFeed:
    """Return the newest MOST_ENTRIES of the first MOST_READ_ENTRIES of a feed that came from `url`.

    `allow` is a FetchAllow as text. An entry without a link that may be fetched is left out; links count once. Raises
    ArticleUnreadable (`not_a_feed`).
    """
    if decode(body[:256], charset, markup=False).lstrip("\ufeff \t\r\n").startswith("{"):
        found, rest_seconds = _json_entries(decode(body, charset, markup=False)), 0
    else:
        found, rest_seconds = _xml_entries(body, content_type, charset, url)
    newest = _newest_first(found)
    return ReadFeed(_checked(newest, url, FetchAllow.parse(allow)), rest_seconds)


def _xml_entries(
    body: bytes, content_type: str, charset: str | None, url: str
) -> tuple[list[tuple[str, datetime | None]], int]:
    declared = f"{content_type}; charset={charset}" if charset else content_type
    headers = {"content-location": url, "content-type": declared}
    # A stream, never the bytes themselves: those feedparser would take for an address or a file's name.
    parsed = feedparser.parse(io.BytesIO(_first_entries(body)), response_headers=headers, sanitize_html=False)
    if not parsed.get("version"):
        raise _not_a_feed()
    entries = [
        (_text(entry.get("link")), _moment(entry.get("published_parsed") or entry.get("updated_parsed")))
        for entry in parsed.entries
    ]
    return entries, _rest_seconds(parsed.feed)


def _first_entries(body: bytes) -> bytes:
    """Return a feed without what follows its first MOST_READ_ENTRIES: measured, 100,000 of them take feedparser 7
    seconds.
    """
    starts = itertools.islice(_ENTRY_START.finditer(body), MOST_READ_ENTRIES, None)
    beyond = next(starts, None)
    return body[: beyond.start()] if beyond else body


def _json_entries(text: str) -> list[tuple[str, datetime | None]]:
    try:
        feed = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        raise _not_a_feed() from None
    items = feed.get("items") if "jsonfeed.org" in str(feed.get("version")) else None
    if not isinstance(items, list):
        raise _not_a_feed()
    objects = [item for item in items if isinstance(item, dict)]
    return [(_text(item.get("url")), _iso_moment(item.get("date_published"))) for item in objects]


def _newest_first(entries: Sequence[tuple[str, datetime | None]]) -> list[tuple[str, datetime | None]]:
    """Order by date if every entry has one; else keep the feed's own order, which is newest first by custom."""
    if all(published_at for _, published_at in entries):
        return sorted(entries, key=lambda entry: entry[1] or datetime.min.replace(tzinfo=UTC), reverse=True)
    return list(entries)


def _checked(entries: Sequence[tuple[str, datetime | None]], url: str, allow: FetchAllow) -> tuple[FeedEntry, ...]:
    found: dict[str, FeedEntry] = {}
    for link, published_at in entries[:MOST_ENTRIES]:
        if not link.strip():
            continue
        try:
            address = str(check_url(urljoin(url, link.strip()), allow))
            found.setdefault(canonical_url(address), FeedEntry(address, published_at))
        except (RefusedUrl, NotAnIndicator, ValueError):
            continue
    return tuple(found.values())


def _rest_seconds(feed: Any) -> int:
    """Return what `ttl` (minutes) and `sy:updatePeriod` ask for, at most a day."""
    ttl, frequency = (str(feed.get(name) or "") for name in ("ttl", "sy_updatefrequency"))
    minutes = int(ttl) if ttl.isdecimal() and len(ttl) < 6 else 0
    times = max(1, int(frequency)) if frequency.isdecimal() and len(frequency) < 6 else 1
    period = _PERIODS.get(str(feed.get("sy_updateperiod") or "").strip().lower(), 0) // times
    return min(max(minutes * 60, period), LONGEST_REST_SECONDS)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(parsed: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(calendar.timegm(parsed), UTC) if parsed else None
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def _iso_moment(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
        return found.astimezone(UTC) if found and found.tzinfo else found and found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _not_a_feed() -> ArticleUnreadable:
    return ArticleUnreadable("not_a_feed", "The address does not lead to an RSS, Atom or JSON feed.")
