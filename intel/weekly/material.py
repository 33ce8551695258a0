"""Read what a week is computed from out of the store, counting while its sightings go by, one indicator at a time."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest

from intel.records import Article, SeenIoc
from intel.store import Store
from intel.store.subjects import SUBJECTS
from intel.weekly.weeks import WEEK

# What stands in the top lists: of each subject, and of all others.
TOP, TOP_OTHERS = 10, 20
OTHERS = ""
# So many candidates for a top list gather before the list is cut again.
_CANDIDATES = 500
_TOLD_EVERY = 5_000
# They take some milliseconds.
_RESTS_AFTER = 250

Indicator = tuple[str, str]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Seen:
    """An indicator within one week: how many articles and independent sources it has, and whether it is new."""

    type: str
    value: str
    articles: int
    sources: int
    new: bool
    first_seen: datetime

    @property
    def weight(self) -> tuple[int, int, datetime, str, str]:
        """Its place in a top list."""
        return -self.sources, -self.articles, self.first_seen, self.value, self.type


@dataclass(frozen=True, slots=True)
class Material:
    """The articles of a week, oldest first, and what the indicators seen in them come to.

    `iocs` and `new_iocs` count indicators by type, `top` are the first ones of each subject's type and of OTHERS,
    `techniques` the sources of each technique. `counted_sources` is the source that each article counts for. `new_in`
    says how many indicators of an article are new in this week, `subjects_in` which CVEs, techniques and malware it
    names, `beside` how many other indicators were named near a malware or in the articles that name a technique.
    `watched` counts the articles of the indicators that were asked for.
    """

    articles: tuple[Article, ...]
    iocs: Mapping[str, int]
    new_iocs: Mapping[str, int]
    top: Mapping[str, Sequence[Seen]]
    techniques: Mapping[str, int]
    counted_sources: Mapping[str, str]
    new_in: Mapping[str, int]
    subjects_in: Mapping[str, Sequence[Indicator]]
    beside: Mapping[Indicator, int]
    watched: Mapping[Indicator, int]

    @property
    def sources(self) -> set[str]:
        return set(self.counted_sources.values())

    @property
    def told(self) -> set[Indicator]:
        """The indicators in the top lists."""
        return {(seen.type, seen.value) for top in self.top.values() for seen in top}


def untold(_done: int, _total: int) -> None:
    """Tell nobody how far it has come."""


async def read_material(
    store: Store,
    start: datetime,
    watch: Collection[Indicator] = (),
    progress: Progress = untold,
    rest_seconds: float = 0.0,
) -> Material:
    """Return the material of the week that starts then; `watch` are indicators whose articles are counted apart.

    `progress` is told how many of the week's sightings are counted, and of how many. It rests so long after every few
    hundred of them.
    """
    articles = await store.articles.between(start, start + WEEK)
    subjects_in = await store.subjects.named_in(start, start + WEEK)
    counting, counted, total = (
        _Counting(start, articles, subjects_in, watch),
        0,
        sum(article.ioc_count for article in articles),
    )
    async for rows in _by_indicator(store.articles.seen_between(start, start + WEEK)):
        counting.take(rows)
        counted += len(rows)
        if counted % _TOLD_EVERY < len(rows):
            progress(counted, max(total, counted))
        if rest_seconds and counted % _RESTS_AFTER < len(rows):
            await asyncio.sleep(rest_seconds)
    return counting.material(articles)


class _Counting:
    """Counts while sightings go by, so that nothing is held of an indicator but in the top lists."""

    def __init__(
        self,
        start: datetime,
        articles: Iterable[Article],
        subjects_in: Mapping[str, Sequence[Indicator]],
        watch: Collection[Indicator],
    ) -> None:
        self._start = start
        self._ids = {article.id for article in articles}
        self._subjects_in = subjects_in
        self._techniques_in = {
            id: frozenset(one for one in subjects if one[0] == "mitre_attack") for id, subjects in subjects_in.items()
        }
        self._watch = frozenset(watch)
        self._iocs, self._new_iocs, self._watched = Counter[str](), Counter[str](), Counter[Indicator]()
        self._top: dict[str, list[Seen]] = defaultdict(list)
        self._techniques: dict[str, int] = {}
        self._counted_sources: dict[str, str] = {}
        self._new_in, self._beside = Counter[str](), Counter[Indicator]()

    def take(self, rows: Sequence[SeenIoc]) -> None:
        """Count all sightings of one indicator."""
        rows = [row for row in rows if row.article_id in self._ids]
        if not rows:
            return
        type, value, new = rows[0].type, rows[0].value, rows[0].first_seen >= self._start
        sources = len({row.counted_source for row in rows})
        self._iocs[type] += 1
        self._new_iocs[type] += new
        self._rank(Seen(type, value, len(rows), sources, new, rows[0].first_seen))
        if type == "mitre_attack":
            self._techniques[value] = sources
        if (type, value) in self._watch:
            self._watched[type, value] = len(rows)
        for row in rows:
            self._counted_sources[row.article_id] = row.counted_source
            self._new_in[row.article_id] += new
        self._count_beside(type, rows)

    def _rank(self, seen: Seen) -> None:
        top = self._top[seen.type if seen.type in SUBJECTS else OTHERS]
        top.append(seen)
        if len(top) >= _CANDIDATES:
            top[:] = _first(top)

    def _count_beside(self, type: str, rows: Sequence[SeenIoc]) -> None:
        if type != "malware":
            self._beside.update(("malware", name) for name in {name for row in rows for name in row.malware})
        if type != "mitre_attack":
            found = [self._techniques_in[row.article_id] for row in rows if row.article_id in self._techniques_in]
            self._beside.update(found[0] if len(found) == 1 else frozenset().union(*found))

    def material(self, articles: tuple[Article, ...]) -> Material:
        return Material(
            articles,
            self._iocs,
            self._new_iocs,
            {name: _first(top, TOP if name else TOP_OTHERS) for name, top in self._top.items()},
            self._techniques,
            _sources_of(articles, self._counted_sources),
            self._new_in,
            self._subjects_in,
            self._beside,
            self._watched,
        )


def _first(seen: Iterable[Seen], most: int = TOP_OTHERS) -> list[Seen]:
    return nsmallest(most, seen, key=lambda one: one.weight)


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
