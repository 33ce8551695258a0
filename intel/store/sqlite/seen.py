"""What the sightings of indicators come to: read for many indicators at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import orjson

from intel.records import NEWEST_ARTICLES
from intel.store.sqlite.kinds import WEEK, week_begins, week_of
from intel.store.sqlite.matching import text_column
from intel.store.subjects import OBSERVABLES

# Beyond so many sightings of an indicator, the engine sums them up instead of handing them over one by one.
_MANY = 200
_EVER = range(-(2**62), 2**62)

# The members of `Said`, of an indicator `i` and its article `a`.
SAID = """
    i.first_seen, i.last_seen, i.sightings, i.sources, i.article_seq, i.malware, i.context, i.tlp,
    a.title, a.url, a.source_name, a.source_domain, a.published_at
"""


class Said(NamedTuple):
    """What an indicator says: another one is a change. The last five members are those of its newest article."""

    first_seen: int
    last_seen: int
    sightings: int
    sources: int
    article_seq: int
    malware: str
    context: str
    tlp: int
    title: str
    url: str | None
    source_name: str
    source_domain: str | None
    published_at: int | None


_CONTEXT = Said._fields.index("context")


class OfWeek(NamedTuple):
    """How many articles of a week, and of how many sources that they count for, name an indicator."""

    week: int
    articles: int
    sources: int


class Seen(NamedTuple):
    """What the sightings of an indicator come to: what it says, the words of its newest articles, their sources, and
    its weeks.

    The weeks of a subject that very many articles name are left out: they follow from what articles say of it.
    """

    said: Said
    words: str
    source_seqs: frozenset[int]
    weeks: tuple[OfWeek, ...]

    @property
    def last_seen(self) -> int:
        return self.said.last_seen


class _Article(NamedTuple):
    """What indicators take from an article."""

    id: str
    counted_source: str
    source_seq: int
    tlp: int
    title: str
    url: str | None
    source_name: str
    source_domain: str | None
    published_at: int | None


class Sighted(NamedTuple):
    """One sighting of an indicator."""

    newest_first: int
    article_seq: int
    malware: str
    context: str


class Kept(NamedTuple):
    """What a stored indicator comes to, by what is kept of it, and its newest sightings."""

    seen: Seen
    newest: list[Sighted]


class _Summed(NamedTuple):
    """All sightings of an indicator."""

    oldest: int
    sightings: int
    sources: int
    source_seqs: frozenset[int]
    tlp: int
    weeks: tuple[OfWeek, ...]


def note(connection: sqlite3.Connection, seqs: Iterable[int]) -> None:
    """Make the temporary table `noted` hold these indicators, by `seq`."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS noted (seq INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM noted")
    connection.execute("INSERT INTO noted (seq) SELECT value FROM json_each(?)", (orjson.dumps([*seqs]).decode(),))


class Sightings:
    """Reads the sightings of indicators, in one state of the articles."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._articles: dict[int, _Article] = {}
        self._sources: dict[int, frozenset[int]] = {}
        self._weeks: dict[int, tuple[OfWeek, ...]] = {}
        self._told: dict[tuple[tuple[int, str], ...], tuple[str, str]] = {}
        self._like: dict[tuple[int, str], Seen] = {}

    def of(self, expected: Mapping[int, int]) -> dict[int, Seen]:
        """Return what the sightings of indicators come to, by `seq`; those without any are left out.

        `expected` tells for each about how many it has.
        """
        many = [seq for seq, sightings in expected.items() if sightings > _MANY]
        note(self._connection, (seq for seq, sightings in expected.items() if sightings <= _MANY))
        found = {seq: self.come_to(rows) for seq, rows in self._groups()}
        for seq in many:
            newest = [Sighted(*row) for row in self._connection.execute(_NEWEST, (seq, NEWEST_ARTICLES))]
            if newest:
                found[seq] = self._seen(newest, self._summed_up(seq))
        return found

    def kept(self, seq: int, said: Said, source_seqs: frozenset[int]) -> Kept:
        """Return what an indicator comes to that says this and has these sources, without reading all its sightings."""
        newest = [Sighted(*row) for row in self._connection.execute(_NEWEST, (seq, NEWEST_ARTICLES))]
        weeks = tuple(OfWeek(*row) for row in self._connection.execute(_KEPT_WEEKS, (seq,)))
        return Kept(Seen(said, self._telling(newest)[1], source_seqs, weeks), newest)

    def with_more(self, seq: int, kept: Kept, more: Sequence[Sighted]) -> Seen:
        """Return what an indicator comes to with the sightings of articles that are newer in the store than all others
        of its.
        """
        said = kept.seen.said
        articles = [self._article(row.article_seq) for row in more]
        newest = sorted([*kept.newest, *more], key=self._order)[:NEWEST_ARTICLES]
        summed = _Summed(
            max(-said.first_seen, *(row.newest_first for row in more)),
            said.sightings + len(more),
            said.sources + self._new_sources(seq, kept, more),
            kept.seen.source_seqs.union(article.source_seq for article in articles),
            max(said.tlp, *(article.tlp for article in articles)),
            # Of subjects none are kept.
            tuple(self._weeks_with(seq, kept, more)) if kept.seen.weeks else (),
        )
        return self._seen(newest, summed)

    def _weeks_with(self, seq: int, kept: Kept, more: Sequence[Sighted]) -> Iterator[OfWeek]:
        weeks = {week.week: week for week in kept.seen.weeks}
        for week, some in groupby(sorted(more, reverse=True), key=lambda row: week_of(-row.newest_first)):
            rows = [*some]
            _, articles, sources = weeks.get(week, (week, 0, 0))
            of_week = range(1 - week_begins(week + 1), 1 - week_begins(week))
            weeks[week] = OfWeek(week, articles + len(rows), sources + self._new_sources(seq, kept, rows, of_week))
        yield from sorted(weeks.values(), reverse=True)

    def _new_sources(self, seq: int, kept: Kept, more: Sequence[Sighted], within: range = _EVER) -> int:
        """Return for how many sources, for which no other sighting `within` a time counts, these ones do."""
        known = {self._article(row.article_seq).counted_source for row in kept.newest if row.newest_first in within}
        first = min(row.article_seq for row in more)
        new = {self._article(row.article_seq).counted_source for row in more} - known
        asked = ((seq, within.start, within.stop, first, source) for source in new)
        return sum(self._connection.execute(_COUNTS, each).fetchone() is None for each in asked)

    def _order(self, row: Sighted) -> tuple[int, str]:
        return row.newest_first, self._article(row.article_seq).id

    def come_to(self, rows: list[Sighted]) -> Seen:
        """Return what these sightings come to, where they are all that an indicator has."""
        if len(rows) == 1:
            return self._only(rows[0])
        rows.sort(key=self._order)
        return self._seen(rows, self._summed(rows))

    def _only(self, row: Sighted) -> Seen:
        """Return what an only sighting comes to: most of it is the same for many indicators of its article."""
        key = row.article_seq, row.malware
        if (like := self._like.get(key)) is None:
            like = self._like[key] = self._seen([row], self._summed([row]))
        said = like.said
        return Seen(Said._make((*said[:_CONTEXT], row.context, *said[_CONTEXT + 1 :])), *like[1:])

    def _groups(self) -> Iterator[tuple[int, list[Sighted]]]:
        for seq, rows in groupby(self._connection.execute(_ALL), key=lambda row: int(row[0])):
            yield seq, [Sighted(*row[1:]) for row in rows]

    def _summed(self, rows: list[Sighted]) -> _Summed:
        if len(rows) == 1:
            only = rows[0].article_seq
            newest_first, tlp = rows[0].newest_first, self._article(only).tlp
            return _Summed(newest_first, 1, 1, self._only_source(only), tlp, self._only_week(newest_first))
        articles = [self._article(row.article_seq) for row in rows]
        return _Summed(
            rows[-1].newest_first,
            len(rows),
            len({article.counted_source for article in articles}),
            frozenset(article.source_seq for article in articles),
            max(article.tlp for article in articles),
            tuple(self._weeks_of(rows)),
        )

    def _only_source(self, article_seq: int) -> frozenset[int]:
        """Return the source of an article as a set, made once for the many indicators that only it names."""
        if article_seq not in self._sources:
            self._sources[article_seq] = frozenset((self._article(article_seq).source_seq,))
        return self._sources[article_seq]

    def _only_week(self, newest_first: int) -> tuple[OfWeek, ...]:
        """Return the week of an only article, made once too."""
        if newest_first not in self._weeks:
            self._weeks[newest_first] = (OfWeek(week_of(-newest_first), 1, 1),)
        return self._weeks[newest_first]

    def _weeks_of(self, rows: Iterable[Sighted]) -> Iterator[OfWeek]:
        for week, some in groupby(rows, key=lambda row: week_of(-row.newest_first)):
            counted = [self._article(row.article_seq).counted_source for row in some]
            yield OfWeek(week, len(counted), len(set(counted)))

    def _summed_up(self, seq: int) -> _Summed:
        oldest, count, counted, sources, tlp = self._connection.execute(_SUMMED_UP, (seq,)).fetchone()
        weeks = tuple(OfWeek(*row) for row in self._connection.execute(_WEEKS, (seq,)))
        return _Summed(oldest, count, counted, frozenset(map(int, sources.split(","))), tlp, weeks)

    def _seen(self, rows: list[Sighted], summed: _Summed) -> Seen:
        newest = rows[0]
        article = self._article(newest.article_seq)
        malware, words = self._telling(rows[:NEWEST_ARTICLES])
        said = Said(
            -summed.oldest, -newest.newest_first, summed.sightings, summed.sources,
            newest.article_seq, malware, newest.context, summed.tlp, *article[4:],
        )  # fmt: skip
        return Seen(said, words, summed.source_seqs, summed.weeks)

    def _telling(self, newest: list[Sighted]) -> tuple[str, str]:
        """Return the malware names in these sightings, as JSON, and the words that they are found by.

        Indicators of one article mostly have the same.
        """
        key = tuple((row.article_seq, row.malware) for row in newest)
        if key not in self._told:
            names = dict.fromkeys(name for row in newest for name in orjson.loads(row.malware))
            self._told[key] = orjson.dumps(list(names)).decode(), text_column((*self._texts(newest), *names))
        return self._told[key]

    def _texts(self, newest: Iterable[Sighted]) -> Iterator[str]:
        for row in newest:
            article = self._article(row.article_seq)
            yield article.title
            yield article.source_name

    def _article(self, seq: int) -> _Article:
        if seq not in self._articles:
            self._articles[seq] = _Article(*self._connection.execute(_ARTICLE, (seq,)).fetchone())
        return self._articles[seq]


_ALL = """
    SELECT s.ioc_seq, s.newest_first, s.article_seq, s.malware, s.context
    FROM noted CROSS JOIN sightings AS s ON s.ioc_seq = noted.seq ORDER BY s.ioc_seq, s.newest_first
"""
_NEWEST = """
    SELECT s.newest_first, s.article_seq, s.malware, s.context
    FROM sightings AS s CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE s.ioc_seq = ? ORDER BY s.newest_first, a.id LIMIT ?
"""
_SUMMED_UP = """
    SELECT max(s.newest_first), count(*), count(DISTINCT a.counted_source), group_concat(DISTINCT a.source_seq),
        max(a.tlp)
    FROM sightings AS s CROSS JOIN articles AS a ON a.seq = s.article_seq WHERE s.ioc_seq = ?
"""
# The type is looked at first, so that no sighting of a subject is read.
_WEEKS = f"""
    SELECT {WEEK.replace("last_seen", "-s.newest_first")} AS week, count(*), count(DISTINCT a.counted_source)
    FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_seq = i.seq CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE i.seq = ? AND i.type IN ({", ".join(f"'{type}'" for type in OBSERVABLES)}) GROUP BY week ORDER BY week DESC
"""
_KEPT_WEEKS = "SELECT week, articles, sources FROM week_iocs WHERE ioc_seq = ? ORDER BY week DESC"
# Articles are numbered in the order in which they were saved first.
_COUNTS = """
    SELECT 1 FROM sightings AS s CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE s.ioc_seq = ? AND s.newest_first >= ? AND s.newest_first < ? AND s.article_seq < ? AND a.counted_source = ?
    LIMIT 1
"""
_ARTICLE = """
    SELECT id, counted_source, source_seq, tlp, title, url, source_name, source_domain, published_at
    FROM articles WHERE seq = ?
"""
