"""Find when a page says it was published."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import lxml.html

from intel.times import to_moment

_NAMES: Final = (
    "article:published_time og:article:published_time og:published_time article.published datepublished dc.date "
    "dc.date.issued dcterms.date dcterms.created dcterms.issued date pubdate publishdate publish-date "
    "publication_date parsely-pub-date sailthru.date"
)
_META_NAMES: Final = frozenset(_NAMES.split())
_LONGEST_JSON: Final = 300_000
_MOST_NODES: Final = 20_000
_MOST_ELEMENTS: Final = 200
_ISO_DATE: Final = re.compile(
    r"\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?\s*"
)


def published_at(tree: lxml.html.HtmlElement) -> datetime | None:
    """Return the moment of first publication from meta tags, JSON-LD or a `time` element, in this order.

    A bare date is its midnight; a time without a zone is taken as UTC.
    """
    for text in _claims(tree):
        if (moment := read_date(text)) is not None:
            return moment
    return None


def read_date(text: str) -> datetime | None:
    """Return an ISO 8601 or RFC 5322 date as a moment; None for anything else."""
    try:
        if match := _ISO_DATE.fullmatch(text[:60]):
            day, time, zone = match.groups()
            moment = datetime.fromisoformat(f"{day}T{time or '00:00'}{zone or ''}")
        else:
            moment = parsedate_to_datetime(text[:60])
        return to_moment(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _claims(tree: lxml.html.HtmlElement) -> Iterator[str]:
    for meta in _some(tree, "meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop") or ""
        if name.lower() in _META_NAMES:
            yield meta.get("content") or ""
    for script in _some(tree, "script"):
        if (script.get("type") or "").lower() == "application/ld+json":
            yield from _dates_in_json(script.text or "")
    for time in _some(tree, "time"):
        if time.get("itemprop") == "datePublished" or time.get("pubdate") is not None:
            yield time.get("datetime") or time.text or ""
    for time in _some(tree, "time"):
        yield time.get("datetime") or ""


def _some(tree: lxml.html.HtmlElement, name: str) -> Iterator[lxml.html.HtmlElement]:
    for _, element in zip(range(_MOST_ELEMENTS), tree.iter(name), strict=False):
        yield element


def _dates_in_json(text: str) -> Iterator[str]:
    if len(text) > _LONGEST_JSON:
        return
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, dict):
            found = node.get("datePublished")
            if isinstance(found, str):
                yield found
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
