"""What the indicators seen in a week come to: how it is told, and how it is counted from sightings one by one.

An adapter that keeps such numbers as articles are written tells them without reading the sightings.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest
from typing import Final

from intel.records import Article, SeenIoc
from intel.store.subjects import SUBJECTS

# What stands in the top lists: of each subject, and of all others.
TOP, TOP_OTHERS = 10, 20
OTHERS: Final = ""
# So many candidates for a top list gather before the list is cut again.
_CANDIDATES = 500
_TOLD_EVERY = 5_000
# They take some milliseconds.
_RESTS_AFTER = 250

Indicator = tuple[str, str]
Told = Callable[[int, int], None]


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
class Tally:
    """The articles of a week, oldest first, and what the indicators seen in them come to, all in one state.

    `iocs` and `new_iocs` count indicators by type, `top` are the first ones of each subject's type and of OTHERS,
    `techniques` the sources of each technique. `counted_sources` is the source that each article counts for. `new_in`
    says how many indicators of an article are new in this week, `subjects_in` which CVEs, techniques and malware it
    names. `beside` tells of the malware and techniques in `top` how many other indicators were named near it, or in the
    articles that name it. `watched` counts the articles of the indicators that were asked for.
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


NOTHING: Final = Tally((), {}, {}, {}, {}, {}, {}, {}, {}, {})


def untold(_done: int, _total: int) -> None:
    """Tell nobody how far it has come."""


def top_list(type: str) -> str:
    """Return the name of the top list that indicators of a type stand in."""
    return type if type in SUBJECTS else OTHERS


def first_of(name: str, seen: Iterable[Seen]) -> list[Seen]:
    """Return what stands in the top list of that name."""
    return nsmallest(TOP if name else TOP_OTHERS, seen, key=lambda one: one.weight)


def sources_of(articles: Iterable[Article], known: Mapping[str, str]) -> dict[str, str]:
    """Return the source that each article counts for: its cluster's, which is `known` of any article with indicators.

    Of a cluster without indicators the earliest article of the week speaks for all.
    """
    ordered = sorted(articles, key=lambda article: (article.seen_at, article.id))
    by_cluster = {article.cluster_id: known[article.id] for article in ordered if article.id in known}
    for article in ordered:
        by_cluster.setdefault(article.cluster_id, article.counted_source)
    return {article.id: by_cluster[article.cluster_id] for article in ordered}


async def count(
    start: datetime,
    articles: tuple[Article, ...],
    subjects_in: Mapping[str, Sequence[Indicator]],
    sightings: AsyncIterator[SeenIoc],
    watch: Collection[Indicator],
    told: Told,
    rest_seconds: float,
) -> Tally:
    """Return the tally of the week that begins at `start` from all sightings in its articles, which come by indicator.

    `told` hears how many are counted, and of how many. It rests so long after every few hundred of them, and at least
    as long as they took: whoever reads or saves meanwhile asks the same engine.
    """
    counting, counted = _Counting(start, articles, subjects_in, watch), 0
    begun = time.monotonic()
    total = sum(article.ioc_count for article in articles)
    async for rows in _by_indicator(sightings):
        counting.take(rows)
        counted += len(rows)
        if counted % _TOLD_EVERY < len(rows):
            told(counted, max(total, counted))
        if rest_seconds and counted % _RESTS_AFTER < len(rows):
            await asyncio.sleep(max(rest_seconds, time.monotonic() - begun))
            begun = time.monotonic()
    return counting.tally(articles)


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
        name = top_list(seen.type)
        top = self._top[name]
        top.append(seen)
        if len(top) >= _CANDIDATES:
            top[:] = first_of(name, top)

    def _count_beside(self, type: str, rows: Sequence[SeenIoc]) -> None:
        if type != "malware":
            self._beside.update(("malware", name) for name in {name for row in rows for name in row.malware})
        if type != "mitre_attack":
            found = [self._techniques_in[row.article_id] for row in rows if row.article_id in self._techniques_in]
            self._beside.update(found[0] if len(found) == 1 else frozenset().union(*found))

    def tally(self, articles: tuple[Article, ...]) -> Tally:
        top = {name: first_of(name, seen) for name, seen in self._top.items()}
        shown = ((one.type, one.value) for name in ("malware", "mitre_attack") for one in top.get(name, ()))
        return Tally(
            articles,
            self._iocs,
            self._new_iocs,
            top,
            self._techniques,
            sources_of(articles, self._counted_sources),
            self._new_in,
            self._subjects_in,
            {one: self._beside[one] for one in shown},
            self._watched,
        )


async def _by_indicator(sightings: AsyncIterator[SeenIoc]) -> AsyncIterator[list[SeenIoc]]:
    rows: list[SeenIoc] = []
    async for row in sightings:
        if rows and rows[0].ioc_id != row.ioc_id:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows
