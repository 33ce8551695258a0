"""Collect what the articles of a span of time say of each CVE, malware and technique."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from intel.catalogues import CveFacts, Technique, lookup, techniques
from intel.records import Article, SeenIoc
from intel.store import Store

KINDS = {"cve": "cve", "malware": "malware", "mitre_attack": "technique"}
LEVELS = ("in_the_wild", "poc")
# Of these types are the indicators that a subject is shown with, and that count as new ones of a malware.
OBSERVABLES = ("ip", "domain", "url", "hash_md5", "hash_sha1", "hash_sha256", "email")


@dataclass(frozen=True, slots=True)
class Mention:
    """An article that names a subject: when, the source it counts for, and what it says of the subject."""

    article: Article
    seen_at: datetime
    source: str
    level: str | None
    quote: str
    cvss: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Subject:
    """One CVE, malware or technique; `mentions` stand oldest first, `named_near` are indicators named near a
    malware.
    """

    kind: str
    type: str
    key: str
    first_seen: datetime
    mentions: tuple[Mention, ...]
    named_near: tuple[SeenIoc, ...]
    facts: CveFacts


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that focus is computed from; `rows` are the sightings of each article."""

    subjects: tuple[Subject, ...]
    rows: Mapping[str, tuple[SeenIoc, ...]]
    techniques: Mapping[str, Technique]


@dataclass(slots=True)
class _Sorted:
    named: dict[tuple[str, str], list[SeenIoc]] = field(default_factory=lambda: defaultdict(list))
    near: dict[str, list[SeenIoc]] = field(default_factory=lambda: defaultdict(list))
    by_article: dict[str, list[SeenIoc]] = field(default_factory=lambda: defaultdict(list))


async def read_material(store: Store, start: datetime, end: datetime) -> Material:
    """Return the subjects named by articles seen from `start` to before `end`, with what catalogues say of them."""
    articles = {article.id: article for article in await store.articles.between(start, end)}
    found = _Sorted()
    async for row in store.articles.seen_between(start, end):
        # An article that was saved between the two reads is met by the next computation.
        if row.article_id in articles:
            _sort(row, found)
    facts = await lookup(store, [value for type, value in found.named if type == "cve"])
    known = await techniques(store, [value for type, value in found.named if type == "mitre_attack"])
    subjects = (
        _subject(type, value, rows, articles, found.near.get(value, ()) if type == "malware" else (), facts)
        for (type, value), rows in found.named.items()
    )
    return Material(tuple(subjects), {id: tuple(rows) for id, rows in found.by_article.items()}, known)


def _sort(row: SeenIoc, found: _Sorted) -> None:
    if row.type in KINDS:
        found.named[row.type, row.value].append(row)
    if row.type in OBSERVABLES:
        for name in row.malware:
            found.near[name].append(row)
    if row.type in OBSERVABLES or row.type == "mitre_attack":
        found.by_article[row.article_id].append(row)


def _subject(
    type: str,
    key: str,
    rows: Iterable[SeenIoc],
    articles: Mapping[str, Article],
    near: Iterable[SeenIoc],
    facts: Mapping[str, CveFacts],
) -> Subject:
    in_order = sorted(rows, key=lambda row: (row.seen_at, row.article_id))
    return Subject(
        kind=KINDS[type],
        type=type,
        key=key,
        first_seen=in_order[0].first_seen,
        mentions=tuple(_mention(row, articles[row.article_id]) for row in in_order),
        named_near=tuple(near),
        facts=facts.get(key, CveFacts()) if type == "cve" else CveFacts(),
    )


def _mention(row: SeenIoc, article: Article) -> Mention:
    said = article.findings.get(row.value) if row.type == "cve" else None
    finding = said if isinstance(said, dict) else {}
    level = finding.get("exploitation")
    return Mention(
        article=article,
        seen_at=row.seen_at,
        source=row.counted_source,
        level=level if level in LEVELS else None,
        quote=str(finding.get("quote") or ""),
        cvss=finding.get("cvss"),
    )
