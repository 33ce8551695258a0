"""Read what a week is computed from out of the store, grouped by indicator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from intel.records import Article, SeenIoc
from intel.store import Store
from intel.weekly.weeks import WEEK

# What is told of in lists of its own and can come into focus.
SUBJECTS = ("malware", "cve", "mitre_attack")


@dataclass(frozen=True, slots=True)
class Seen:
    """An indicator within one week: its articles, its independent sources, and whether it is new."""

    type: str
    value: str
    article_ids: tuple[str, ...]
    source_names: tuple[str, ...]
    new: bool
    first_seen: datetime

    @property
    def articles(self) -> int:
        return len(self.article_ids)

    @property
    def sources(self) -> int:
        return len(self.source_names)


@dataclass(frozen=True, slots=True)
class Material:
    """The articles of a week, oldest first, and the indicators seen in them.

    `counted_sources` is the source that each article counts for. `new_in` says how many indicators of an article are
    new in this week, `subjects_in` which CVEs, techniques and malware it names as (type, value), `beside` how many
    indicators were named with a malware.
    """

    articles: tuple[Article, ...]
    seen: tuple[Seen, ...]
    counted_sources: Mapping[str, str]
    new_in: Mapping[str, int]
    subjects_in: Mapping[str, tuple[tuple[str, str], ...]]
    beside: Mapping[str, int]

    @property
    def sources(self) -> set[str]:
        return set(self.counted_sources.values())


async def read_material(store: Store, start: datetime) -> Material:
    """Return the material of the week that starts then."""
    articles = await store.articles.between(start, start + WEEK)
    gathering = _Gathering(start, articles)
    async for rows in _by_indicator(store.articles.seen_between(start, start + WEEK)):
        gathering.take(rows)
    return Material(
        articles,
        tuple(gathering.seen),
        _sources_of(articles, gathering.counted_sources),
        gathering.new_in,
        {id: tuple(subjects) for id, subjects in gathering.subjects_in.items()},
        gathering.beside,
    )


class _Gathering:
    """Collects what is needed while sightings go by, so that a week's sightings are never held all at once."""

    def __init__(self, start: datetime, articles: Iterable[Article]) -> None:
        self._start = start
        # One text for each id, though every row brings its own.
        self._ids = {article.id: article.id for article in articles}
        self.seen: list[Seen] = []
        self.counted_sources: dict[str, str] = {}
        self.new_in: dict[str, int] = defaultdict(int)
        self.subjects_in: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.beside: dict[str, int] = defaultdict(int)

    def take(self, rows: Sequence[SeenIoc]) -> None:
        """Count all sightings of one indicator."""
        type, value, new = rows[0].type, rows[0].value, rows[0].first_seen >= self._start
        sources = tuple(sorted({row.counted_source for row in rows}))
        articles = tuple(self._ids[row.article_id] for row in rows if row.article_id in self._ids)
        if not articles:
            return
        self.seen.append(Seen(type, value, articles, sources, new, rows[0].first_seen))
        for row in rows:
            self.counted_sources[row.article_id] = row.counted_source
            self.new_in[row.article_id] += new
            if type in SUBJECTS:
                self.subjects_in[row.article_id].append((type, value))
        for name in {name for row in rows for name in row.malware}:
            self.beside[name] += type != "malware"


async def _by_indicator(sightings: AsyncIterator[SeenIoc]) -> AsyncIterator[list[SeenIoc]]:
    rows: list[SeenIoc] = []
    async for row in sightings:
        if rows and rows[0].ioc_id != row.ioc_id:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _sources_of(articles: Iterable[Article], known: Mapping[str, str]) -> dict[str, str]:
    """Return the source that each article counts for: its cluster's, which the store tells with any indicator in it.

    Of a cluster without indicators the earliest article of the week speaks for all.
    """
    ordered = sorted(articles, key=lambda article: (article.seen_at, article.id))
    by_cluster = {article.cluster_id: known[article.id] for article in ordered if article.id in known}
    for article in ordered:
        by_cluster.setdefault(article.cluster_id, article.counted_source)
    return {article.id: by_cluster[article.cluster_id] for article in ordered}
