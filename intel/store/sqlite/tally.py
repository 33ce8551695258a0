"""What weeks come to: kept as articles are written, and told without reading their sightings.

`week_counts` holds how many observables each week has, `week_iocs` the weeks of those that several articles name. What
only one article names follows from the indicator alone, and subjects from `mentions`.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nsmallest
from itertools import groupby
from operator import itemgetter

from intel.ids import ioc_id_bytes
from intel.store.sqlite.kinds import WEEK, WEEK_MILLISECONDS, week_of
from intel.store.sqlite.rows import ARTICLE_COLUMNS, article, to_json
from intel.store.subjects import OBSERVABLES, SUBJECTS
from intel.store.tally import OTHERS, TOP, TOP_OTHERS, Indicator, Seen, Tally, first_of, sources_of
from intel.times import from_milliseconds, to_milliseconds

_Place = tuple[int, int, int, str]


def tally(connection: sqlite3.Connection, monday: datetime, watch: Collection[Indicator]) -> Tally:
    """Return what the week that begins then comes to."""
    start = to_milliseconds(monday)
    week = _Week(connection, start)
    articles = tuple(map(article, connection.execute(ARTICLES_BETWEEN, week.span)))
    observables, subjects = week.counts(), week.subjects()
    top = {OTHERS: week.others()} | {type: _top(type, places, start) for type, places in subjects.places.items()}
    old_in = week.old_in() + subjects.old_in
    return Tally(
        articles=articles,
        iocs=Counter({type: iocs for type, iocs, _ in observables}) + subjects.iocs,
        new_iocs=Counter({type: new for type, _, new in observables}) + subjects.new_iocs,
        top={name: seen for name, seen in top.items() if seen},
        techniques={value: -sources for sources, _, _, value in subjects.places["mitre_attack"]},
        counted_sources=sources_of(articles, dict(map(tuple, connection.execute(_COUNTED_SOURCES, week.span)))),
        new_in={one.id: one.ioc_count - old_in[one.id] for one in articles},
        subjects_in={id: tuple(named) for id, named in subjects.named_in.items()},
        beside={
            **{("malware", one.value): week.beside_malware(one.value) for one in top["malware"]},
            **{("mitre_attack", one.value): week.beside_technique(subjects, one.value) for one in top["mitre_attack"]},
        },
        watched={one: naming for one in watch if (naming := week.articles_of(one))},
    )


def count_all(connection: sqlite3.Connection) -> None:
    """Count all weeks anew, by what is counted of `last_seen` already, and forget those of indicators that are gone.

    What one article alone names was seen in the week of its `last_seen`; only the others are looked at.
    """
    for statement in _COUNT_ALL:
        connection.execute(statement)


@dataclass(frozen=True, slots=True)
class _Subjects:
    """What the articles of a week say of subjects: `old_in` counts those of an article that are not new in the week,
    `places` are their places in a top list by type.
    """

    iocs: Counter[str] = field(default_factory=Counter)
    new_iocs: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[_Place]] = field(default_factory=lambda: {type: [] for type in SUBJECTS})
    named_in: dict[str, list[Indicator]] = field(default_factory=lambda: defaultdict(list))
    old_in: Counter[str] = field(default_factory=Counter)

    def add(self, subject: Indicator, first_seen: int, mentions: list[tuple[str, str]], *, new: bool) -> None:
        """Add a subject; `mentions` are its articles, each with the source that it counts for."""
        type, value = subject
        self.iocs[type] += 1
        self.new_iocs[type] += new
        self.places[type].append((-len({source for _, source in mentions}), -len(mentions), first_seen, value))
        for article_id, _ in mentions:
            self.named_in[article_id].append(subject)
            if not new:
                self.old_in[article_id] += 1


class _Week:
    """What is kept of one week; `start` and `span` are in milliseconds."""

    def __init__(self, connection: sqlite3.Connection, start: int) -> None:
        self._connection = connection
        self._number = week_of(start)
        self.span = start, start + WEEK_MILLISECONDS

    def counts(self) -> list[tuple[str, int, int]]:
        """Return how many observables of each type there are, and how many new ones."""
        return [*map(tuple, self._connection.execute(_COUNTS, (self._number,)))]

    def subjects(self) -> _Subjects:
        found = _Subjects()
        rows = self._connection.execute(_MENTIONS, self.span)
        for (type, value, first_seen), named in groupby(rows, key=itemgetter(0, 1, 2)):
            mentions = [(article_id, source) for *_, article_id, source in named]
            found.add((type, value), first_seen, mentions, new=first_seen >= self.span[0])
        return found

    def others(self) -> list[Seen]:
        """Return the top list of observables: of those that one article alone names, the earliest are enough."""
        shared = self._connection.execute(_SHARED, (self._number, TOP_OTHERS))
        alone = self._connection.execute(_ALONE, (*self.span, TOP_OTHERS))
        return first_of(OTHERS, (_seen(*row, start=self.span[0]) for rows in (shared, alone) for row in rows))

    def old_in(self) -> Counter[str]:
        """Return how many observables of an article are not new in the week; others have none."""
        first, end = self.span
        asked = {"week": self._number, "start": first, "newest": 1 - end, "oldest": -first}
        return Counter(dict(map(tuple, self._connection.execute(_OLD_IN, asked))))

    def beside_malware(self, name: str) -> int:
        """Return how many indicators of other types are named near a malware."""
        asked = {"start": self.span[0], "end": self.span[1], "name": name}
        return sum(self._connection.execute(sql, asked).fetchone()[0] for sql in _NEAR)

    def beside_technique(self, subjects: _Subjects, id: str) -> int:
        """Return how many indicators of other types stand in the articles that name a technique."""
        articles = [article for article, named in subjects.named_in.items() if ("mitre_attack", id) in named]
        (observables,) = self._connection.execute(_OBSERVABLES_OF, (to_json(articles),)).fetchone()
        named = {one for article in articles for one in subjects.named_in[article] if one[0] != "mitre_attack"}
        return int(observables) + len(named)

    def articles_of(self, indicator: Indicator) -> int:
        first, end = self.span
        asked = (ioc_id_bytes(*indicator), 1 - end, -first)
        (articles,) = self._connection.execute(_ARTICLES_OF, asked).fetchone()
        return int(articles)


def _top(type: str, places: Iterable[_Place], start: int) -> list[Seen]:
    return [
        _seen(type, value, -articles, -sources, first_seen, start=start)
        for sources, articles, first_seen, value in nsmallest(TOP, places)
    ]


def _seen(type: str, value: str, articles: int, sources: int, first_seen: int, *, start: int) -> Seen:
    return Seen(type, value, articles, sources, first_seen >= start, from_milliseconds(first_seen))


_OBSERVABLE = f"type IN ({', '.join(f'{type!r}' for type in OBSERVABLES)})"
ARTICLES_BETWEEN = f"SELECT {ARTICLE_COLUMNS} FROM articles WHERE seen_at >= ? AND seen_at < ? ORDER BY seen_at, id"
_COUNTED_SOURCES = """
    SELECT id, counted_source FROM articles WHERE seen_at >= ? AND seen_at < ? AND ioc_counts <> '{}'
"""
_COUNTS = "SELECT type, iocs, new_iocs FROM week_counts WHERE week = ? AND iocs > 0"
_MENTIONS = """
    SELECT m.type, m.value,
        (SELECT min(f.seen_at) FROM mentions AS f WHERE f.type = m.type AND f.value = m.value), m.article_id, m.source
    FROM mentions AS m INDEXED BY mentions_recent WHERE m.seen_at >= ? AND m.seen_at < ? ORDER BY m.type, m.value
"""
# CROSS JOIN keeps the engine from beginning with the larger table.
_SHARED = """
    SELECT i.type, i.value, w.articles, w.sources, w.first_seen
    FROM week_iocs AS w INDEXED BY week_iocs_in_order CROSS JOIN iocs AS i ON i.seq = w.ioc_seq
    WHERE w.week = ? ORDER BY w.sources DESC, w.articles DESC, w.first_seen, i.value, i.type LIMIT ?
"""
_ALONE = f"""
    SELECT type, value, 1, 1, first_seen FROM iocs INDEXED BY iocs_by_first_seen
    WHERE first_seen >= ? AND first_seen < ? AND sightings = 1 AND {_OBSERVABLE}
    ORDER BY first_seen, value, type LIMIT ?
"""
_OLD_IN = """
    SELECT a.id, count(*)
    FROM week_iocs AS w INDEXED BY week_iocs_in_order CROSS JOIN sightings AS s ON s.ioc_seq = w.ioc_seq
    CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE w.week = :week AND w.first_seen < :start AND s.newest_first BETWEEN :newest AND :oldest GROUP BY a.id
"""
_NAMED_NEAR = """
    FROM articles AS a CROSS JOIN article_observables AS o ON o.article_id = a.id AND o.malware = :name
    CROSS JOIN json_each({}) AS named WHERE a.seen_at >= :start AND a.seen_at < :end
"""
_NEAR = tuple(f"SELECT count(DISTINCT named.value) {_NAMED_NEAR.format(column)}" for column in ("o.seqs", "o.subjects"))
_OBSERVABLES_OF = """
    SELECT count(DISTINCT named.value) FROM json_each(?) AS wanted
    CROSS JOIN article_observables AS o ON o.article_id = wanted.value AND o.malware = ''
    CROSS JOIN json_each(o.seqs) AS named
"""
_ARTICLES_OF = """
    SELECT count(*) FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_seq = i.seq
    WHERE i.id = ? AND s.newest_first BETWEEN ? AND ?
"""
_COUNT_ALL = (
    "DELETE FROM week_iocs WHERE ioc_seq NOT IN (SELECT seq FROM iocs)",
    "DELETE FROM week_counts",
    f"""
    WITH shared AS (
        SELECT i.type, max(w.week) AS last, {WEEK.replace("last_seen", "w.first_seen")} AS first
        FROM week_iocs AS w CROSS JOIN iocs AS i ON i.seq = w.ioc_seq GROUP BY w.ioc_seq
    )
    INSERT INTO week_counts (week, type, iocs, new_iocs)
        SELECT week, type, sum(iocs), sum(new_iocs) FROM (
            SELECT week, type, iocs, iocs AS new_iocs FROM ioc_counts WHERE {_OBSERVABLE}
            UNION ALL SELECT last, type, -count(*), -count(*) FROM shared GROUP BY last, type
            UNION ALL SELECT first, type, 0, count(*) FROM shared GROUP BY first, type
            UNION ALL
            SELECT w.week, i.type, count(*), 0 FROM week_iocs AS w CROSS JOIN iocs AS i ON i.seq = w.ioc_seq
            GROUP BY w.week, i.type
        ) GROUP BY week, type
    """,
)
