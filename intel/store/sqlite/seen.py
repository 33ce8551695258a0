"""What the sightings of indicators come to: read for many indicators at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

import orjson

from intel.records import NEWEST_ARTICLES
from intel.store.sqlite.matching import text_column

# Beyond so many sightings of an indicator, the engine sums them up instead of handing them over one by one.
_MANY = 200

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


class Seen(NamedTuple):
    """What the sightings of an indicator come to: what it says, the words of its newest articles, and their sources."""

    said: Said
    words: str
    source_seqs: frozenset[int]

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


class _Row(NamedTuple):
    """One sighting."""

    newest_first: int
    article_seq: int
    malware: str
    context: str


class _Summed(NamedTuple):
    """All sightings of an indicator."""

    oldest: int
    sightings: int
    sources: int
    source_seqs: frozenset[int]
    tlp: int


def note(connection: sqlite3.Connection, seqs: Iterable[int]) -> None:
    """Make the temporary table `noted` hold these indicators, by `seq`."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS noted (seq INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM noted")
    connection.executemany("INSERT INTO noted (seq) VALUES (?)", ((seq,) for seq in seqs))


class Sightings:
    """Reads the sightings of indicators, in one state of the articles."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._articles: dict[int, _Article] = {}
        self._sources: dict[int, frozenset[int]] = {}
        self._told: dict[tuple[tuple[int, str], ...], tuple[str, str]] = {}

    def of(self, expected: Mapping[int, int]) -> dict[int, Seen]:
        """Return what the sightings of indicators come to, by `seq`; those without any are left out.

        `expected` tells for each about how many it has.
        """
        many = [seq for seq, sightings in expected.items() if sightings > _MANY]
        note(self._connection, (seq for seq, sightings in expected.items() if sightings <= _MANY))
        found = {seq: self._seen(rows, self._summed(rows)) for seq, rows in self._groups()}
        for seq in many:
            newest = [_Row(*row) for row in self._connection.execute(_NEWEST, (seq, NEWEST_ARTICLES))]
            if newest:
                found[seq] = self._seen(newest, self._summed_up(seq))
        return found

    def _groups(self) -> Iterator[tuple[int, list[_Row]]]:
        for seq, rows in groupby(self._connection.execute(_ALL), key=lambda row: int(row[0])):
            found = [_Row(*row[1:]) for row in rows]
            if len(found) > 1:
                found.sort(key=lambda row: (row.newest_first, self._article(row.article_seq).id))
            yield seq, found

    def _summed(self, rows: list[_Row]) -> _Summed:
        if len(rows) == 1:
            only = rows[0].article_seq
            return _Summed(rows[0].newest_first, 1, 1, self._only_source(only), self._article(only).tlp)
        articles = [self._article(row.article_seq) for row in rows]
        return _Summed(
            rows[-1].newest_first,
            len(rows),
            len({article.counted_source for article in articles}),
            frozenset(article.source_seq for article in articles),
            max(article.tlp for article in articles),
        )

    def _only_source(self, article_seq: int) -> frozenset[int]:
        """Return the source of an article as a set, made once for the many indicators that only it names."""
        if article_seq not in self._sources:
            self._sources[article_seq] = frozenset((self._article(article_seq).source_seq,))
        return self._sources[article_seq]

    def _summed_up(self, seq: int) -> _Summed:
        oldest, count, counted, sources, tlp = self._connection.execute(_SUMMED_UP, (seq,)).fetchone()
        return _Summed(oldest, count, counted, frozenset(map(int, sources.split(","))), tlp)

    def _seen(self, rows: list[_Row], summed: _Summed) -> Seen:
        newest = rows[0]
        article = self._article(newest.article_seq)
        malware, words = self._telling(rows[:NEWEST_ARTICLES])
        said = Said(
            -summed.oldest, -newest.newest_first, summed.sightings, summed.sources,
            newest.article_seq, malware, newest.context, summed.tlp, *article[4:],
        )  # fmt: skip
        return Seen(said, words, summed.source_seqs)

    def _telling(self, newest: list[_Row]) -> tuple[str, str]:
        """Return the malware names in these sightings, as JSON, and the words that they are found by.

        Indicators of one article mostly have the same.
        """
        key = tuple((row.article_seq, row.malware) for row in newest)
        if key not in self._told:
            names = dict.fromkeys(name for row in newest for name in orjson.loads(row.malware))
            self._told[key] = orjson.dumps(list(names)).decode(), text_column((*self._texts(newest), *names))
        return self._told[key]

    def _texts(self, newest: Iterable[_Row]) -> Iterator[str]:
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
_ARTICLE = """
    SELECT id, counted_source, source_seq, tlp, title, url, source_name, source_domain, published_at
    FROM articles WHERE seq = ?
"""
