"""A week counted a second time, in the plainest way, from what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from intel.records import IOC_TYPES, Article, Sighting
from tests.contract.store.corpus import Saved

Indicator = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Published:
    """Every article as it was last saved, and what it names."""

    articles: dict[str, tuple[Article, tuple[Sighting, ...]]]

    def source_of(self, article: Article) -> str:
        """The source that an article counts for: that of the earliest copy of its text."""
        copies = [each for each, _ in self.articles.values() if each.cluster_id == article.cluster_id]
        return min(copies, key=lambda copy: (copy.seen_at, copy.id)).counted_source

    def within(self, start: datetime, end: datetime) -> list[tuple[Article, tuple[Sighting, ...]]]:
        return [pair for pair in self.articles.values() if start <= pair[0].seen_at < end]

    def first_seen(self, indicator: Indicator) -> datetime:
        return min(article.seen_at for article, _ in self.naming(indicator, self.articles.values()))

    def naming(
        self, indicator: Indicator, among: Iterable[tuple[Article, tuple[Sighting, ...]]]
    ) -> list[tuple[Article, Sighting]]:
        return [(article, s) for article, seen in among for s in seen if (s.type, s.value) == indicator]


def published(saves: Iterable[Saved]) -> Published:
    return Published({saved.article.id: (saved.article, saved.sightings) for saved in saves})


def recount(all: Published, start: datetime, end: datetime) -> dict[str, Any]:
    """Counts of a week by their names."""
    week = all.within(start, end)
    seen = {(s.type, s.value) for _, sightings in week for s in sightings}
    new = {indicator for indicator in seen if all.first_seen(indicator) >= start}
    return {
        "articles": len(week),
        "sources": len({all.source_of(article) for article, _ in week}),
        "iocs": {type: sum(kind == type for kind, _ in seen) for type in IOC_TYPES},
        "new_iocs": {type: sum(kind == type for kind, _ in new) for type in IOC_TYPES},
        "iocs_total": len(seen),
        "new_iocs_total": len(new),
    }


def rows(
    all: Published, start: datetime, end: datetime, before: datetime, wanted: Callable[[str], bool], most: int
) -> list[dict[str, Any]]:
    """The rows of a top list."""
    week, earlier = all.within(start, end), all.within(before, start)
    made = []
    for type, value in {(s.type, s.value) for _, sightings in week for s in sightings if wanted(s.type)}:
        articles = [article for article, _ in all.naming((type, value), week)]
        first = all.first_seen((type, value))
        row: dict[str, Any] = {
            "type": type,
            "value": value,
            "articles": len(articles),
            "sources": len({all.source_of(article) for article in articles}),
            "new": first >= start,
            "delta": len(articles) - len(all.naming((type, value), earlier)),
        }
        made.append((-row["sources"], -row["articles"], first, value, type, row))
    return [place[-1] for place in sorted(made, key=lambda place: place[:5])[:most]]


def beside_malware(all: Published, start: datetime, end: datetime, name: str) -> int:
    week = all.within(start, end)
    return len({(s.type, s.value) for _, seen in week for s in seen if name in s.malware and s.type != "malware"})


def beside_technique(all: Published, start: datetime, end: datetime, id: str) -> int:
    naming = [seen for _, seen in all.within(start, end) if ("mitre_attack", id) in {(s.type, s.value) for s in seen}]
    return len({(s.type, s.value) for seen in naming for s in seen if s.type != "mitre_attack"})
