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

_HEAD: Final = 3_000
_HEAD_LINES: Final = 12
_HEAD_LINE: Final = 80
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY_IN_NAME: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)")
_DAY_IN_TEXT: Final = re.compile(
    r"(?i)(?<![\w/.-])(?:(?P<y>20\d\d)[-/](?P<m>[01]?\d)[-/](?P<d>[0-3]?\d)"
    rf"|(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?\s+(?P<n2>{_MONTH}),?\s+(?P<y2>20\d\d)"
    rf"|(?P<n3>{_MONTH})\s+(?P<d3>[0-3]?\d)(?:st|nd|rd|th)?,?\s+(?P<y3>20\d\d))(?![\w/-])"
)


def published_at(tree: lxml.html.HtmlElement) -> datetime | None:
    """Return the moment of first publication from meta tags, JSON-LD or a `time` element, in this order.

    A bare date is its midnight; a time without a zone is taken as UTC.
    """
    for text in _claims(tree):
        if (moment := read_date(text)) is not None:
            return moment
    return None


def date_in_name(name: str) -> datetime | None:
    """Return the day in a file's name, `2021-10-20_report.txt` or `report-20211020.txt`; None where there is none."""
    match = _DAY_IN_NAME.search(name)
    return _day(*match.groups()) if match else None


def date_in_text(text: str) -> datetime | None:
    """Return the day that the head of a plain text tells: `2024-02-08 (Thursday): …`, `Published October 12, 2021`.

    Only its first lines are looked at, and of a long one only the beginning: further on dates are those of an attack.
    """
    lines = [line.strip() for line in text[:_HEAD].splitlines() if line.strip()][:_HEAD_LINES]
    for line in lines:
        if match := _DAY_IN_TEXT.search(line[:_HEAD_LINE]):
            year, month, day = (
                match["y"] or match["y2"] or match["y3"],
                match["m"],
                match["d"] or match["d2"] or match["d3"],
            )
            named = match["n2"] or match["n3"]
            if found := _day(year, month or str(_MONTHS.index(named[:3].lower()) + 1), day):
                return found
    return None


def _day(year: str, month: str, day: str) -> datetime | None:
    try:
        return datetime(int(year), int(month), int(day), tzinfo=UTC)
    except ValueError:
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
