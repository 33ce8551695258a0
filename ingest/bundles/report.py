"""Define what a bundle reports, whatever its format, and turn it into an article."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ingest.indicators import document_from_text, extract
from ingest.indicators.sentences import shortened
from ingest.reading import ReadPage, cluster_of, counts_by_type
from ingest.sharing import sharing_of
from intel.canonical import canonical
from intel.errors import NotAnIndicator
from intel.ids import article_id
from intel.records import IMPORTED_FILE, Article, Sighting

LONGEST_TITLE: Final = 500
LONGEST_SUMMARY: Final = 500
MOST_MALWARE: Final = 20


@dataclass(frozen=True, slots=True)
class Statement:
    """An indicator as a bundle states it: our type, the value as written, its description, and the malware named with
    it.
    """

    type: str
    raw: str
    said: str = ""
    malware: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One MISP event or STIX report; `identity` is its own id, so that a newer version replaces an older one.

    `paragraphs` is free text, which is read for indicators like any article; `notes` say what was left out; `marks` are
    those of how far it, or a part of it, may be passed on.
    """

    identity: str
    title: str
    source_name: str | None
    published_at: datetime | None
    paragraphs: tuple[str, ...]
    statements: tuple[Statement, ...]
    notes: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()


def as_article(report: Report, source_name: str | None, fetched_at: datetime, most_indicators: int) -> ReadPage:
    """Return the article for a report: no address, its text written from what the report states."""
    stated, unreadable = _stated(report.statements)
    free = "\n\n".join(report.paragraphs)
    found = _distinct([*stated, *_in_text(free, most_indicators)])
    kept = tuple(replace(sighting, position=place) for place, sighting in enumerate(found[:most_indicators]))
    title = " ".join(report.title.split())[:LONGEST_TITLE] or "Untitled report"
    text = "\n\n".join(part for part in (title, free, _listed(stated)) if part)
    article = Article(
        id=article_id(report.identity),
        url=None,
        title=title,
        source_name=source_name or report.source_name or IMPORTED_FILE,
        author=None,
        published_at=min(report.published_at, fetched_at) if report.published_at else None,
        fetched_at=fetched_at,
        language=None,
        summary=" ".join((free or title).split())[:LONGEST_SUMMARY],
        cluster_id=cluster_of(text),
        text=text,
        notes=report.notes + _unreadable_note(unreadable),
        ioc_counts=counts_by_type(kept),
        ioc_dropped=len(found) - len(kept),
        tlp=sharing_of(report.marks),
    )
    return ReadPage(article, kept, ())


def _stated(statements: Iterable[Statement]) -> tuple[list[Sighting], int]:
    stated, unreadable = [], 0
    for statement in statements:
        try:
            value = canonical(statement.type, statement.raw)
        except NotAnIndicator:
            unreadable += 1
            continue
        said = f"{statement.type} {value}" + (f": {statement.said}" if statement.said else "")
        stated.append(Sighting(statement.type, value, shortened(said), _malware(statement.malware)))
    return stated, unreadable


def _malware(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in their list's spelling, each once."""
    found: dict[str, None] = {}
    for name in names:
        with contextlib.suppress(NotAnIndicator):
            found[canonical("malware", name)] = None
    return tuple(found)[:MOST_MALWARE]


def _in_text(text: str, most_indicators: int) -> list[Sighting]:
    extraction = extract(document_from_text(text), most_indicators=most_indicators)
    return [
        Sighting(found.type, found.value, extraction.sentence(found), extraction.malware_near(found))
        for found in extraction.indicators
    ]


def _distinct(sightings: Iterable[Sighting]) -> list[Sighting]:
    first: dict[tuple[str, str], Sighting] = {}
    for sighting in sightings:
        first.setdefault((sighting.type, sighting.value), sighting)
    return list(first.values())


def _listed(stated: Iterable[Sighting]) -> str:
    lines = dict.fromkeys(sighting.context for sighting in stated)
    return "Indicators\n" + "\n".join(lines) if lines else ""


def _unreadable_note(unreadable: int) -> tuple[str, ...]:
    return (f"{unreadable} stated values are no indicators of their type.",) if unreadable else ()
