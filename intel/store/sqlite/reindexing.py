"""Builds anew what searches read, in short transactions between which other writes find their turn."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, Protocol

import orjson

from intel.records import Article, Sighting
from intel.store.port import Progress
from intel.store.sqlite import subjects, tally, word_index
from intel.store.sqlite.changes import next_moment
from intel.store.sqlite.connection import Database
from intel.store.sqlite.deriving import Derivation, search_keys
from intel.store.sqlite.kinds import WEEK
from intel.store.sqlite.rows import ARTICLES_WITH_TEXT, article, article_with_text
from intel.store.sqlite.seen import Sightings
from intel.store.sqlite.word_index import ARTICLE_WORDS, IOC_WORDS, ArticleWords, Index, Words, words_of
from intel.times import to_milliseconds

ARTICLES_AT_ONCE = 50
SIGHTINGS_AT_ONCE = 10_000
IOCS_AT_ONCE = 500


Clock = Callable[[], datetime]
Key = tuple[Any, ...]


class Redo(Protocol):
    """Redoes some records after a `seq`: how many, and the last one's `seq`; None where there are none left."""

    def __call__(self, connection: sqlite3.Connection, *, after: int) -> tuple[int, int] | None: ...


class Drop(Protocol):
    """Drops strays among the next keys after one: the last of these keys; None where there are no more."""

    def __call__(self, connection: sqlite3.Connection, *, after: Key) -> Key | None: ...


async def reindex(database: Database, clock: Clock, progress: Progress) -> None:
    """Rebuild articles and their clusters, then the indicators derived from them; remove what belongs to nothing."""
    run = uuid.uuid4().hex
    for noun, redo, index in (("articles", _redo_articles, ARTICLE_WORDS), ("iocs", _redo_iocs, IOC_WORDS)):
        await database.write(partial(word_index.begin_rebuilding, index=index, run=run))
        await _walk(database, progress, noun, partial(redo, clock=clock, run=run))
        await _put_in_place(database, index, run)
    for noun, drop in (("source_lists", _drop_listed), ("malware_lists", _drop_of_malware)):
        await _drop_all(database, progress, noun, drop)
    await database.write(_drop_strays)


async def _put_in_place(database: Database, index: Index, run: str) -> None:
    """Merge the pieces of the index that was built, let searches read it, and drop the former one."""
    first = True
    while await database.write(partial(word_index.merge_some, index=index, run=run, first=first)):
        first = False
    await database.write(partial(word_index.end_rebuilding, index=index, run=run))
    while await database.write(partial(word_index.drop_some, index=index)):
        pass


async def _walk(database: Database, progress: Progress, noun: str, redo: Redo) -> None:
    """Go through a table by `seq`; what is written meanwhile brings its own words along."""
    done, seq = 0, 0
    total = await database.read(lambda connection: _count(connection, noun))
    progress(noun, 0, total)
    while found := await database.write(partial(redo, after=seq)):
        count, seq = found
        done = min(done + count, total)
        progress(noun, done, total)
    progress(noun, total, total)


async def _drop_all(database: Database, progress: Progress, noun: str, drop: Drop) -> None:
    """Go through lists by their keys, and drop what does not belong there."""
    done, total = 0, await database.read(lambda connection: _count(connection, noun))
    after: Key | None = _BEFORE_ALL
    while after is not None:
        progress(noun.replace("_", " "), min(done, total), total)
        after = await database.write(partial(drop, after=after))
        done += _LISTED_AT_ONCE
    progress(noun.replace("_", " "), total, total)


def fill(connection: sqlite3.Connection, told: Callable[[int], None]) -> None:
    """Write the words of all indicators, of which there are none yet, and count all; `told` hears of each thousand."""
    seq = done = 0
    while rows := connection.execute(_SOME_IOCS, (seq, 2 * IOCS_AT_ONCE)).fetchall():
        word_index.write_words(connection, words_between(connection, seq, rows[-1]["seq"]))
        seq, done = rows[-1]["seq"], done + len(rows)
        told(done)
    word_index.merge_all(connection)
    _count_all(connection)


def words_between(connection: sqlite3.Connection, after: int, last: int) -> list[Words]:
    """Return the words of the indicators after a `seq`, to the `last`."""
    rows = connection.execute(_IOCS_BETWEEN, (after, last)).fetchall()
    seen = Sightings(connection).of({row["seq"]: row["sightings"] for row in rows})
    return [Words(seq, type, value, None, seen[seq].words) for seq, type, value, _ in rows if seq in seen]


def _count_all(connection: sqlite3.Connection) -> None:
    """Count all indicators anew."""
    for statement in _COUNT_ALL:
        connection.execute(statement)


def _count(connection: sqlite3.Connection, noun: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {noun}").fetchone()
    return int(count)


def _redo_articles(connection: sqlite3.Connection, *, after: int, clock: Clock, run: str) -> tuple[int, int] | None:
    sql = f"{ARTICLES_WITH_TEXT} WHERE seq > ? ORDER BY seq LIMIT ?"
    rows = connection.execute(sql, (after, ARTICLES_AT_ONCE)).fetchall()
    if not rows:
        word_index.follow_writes(connection, ARTICLE_WORDS, run)
        return None
    derivation, words, sightings = Derivation(connection), list[ArticleWords](), 0
    for row in rows:
        words.append(ArticleWords(row["seq"], None, words_of(article_with_text(row))))
        derivation.count_cluster(row["cluster_id"])
        sightings += _redo_subjects(connection, row["seq"], article(row))
        if sightings > SIGHTINGS_AT_ONCE:
            break
    derivation.derive(next_moment(connection, to_milliseconds(clock())))
    last = words[-1].seq
    ours = word_index.add_rebuilt_articles(connection, run, words, last)
    return (len(words), last) if ours else None


def _redo_subjects(connection: sqlite3.Connection, seq: int, article: Article) -> int:
    """Write what an article says of subjects; return how many indicators it names."""
    named = [
        (ioc_seq, Sighting(type, value, "", tuple(orjson.loads(malware)), position))
        for ioc_seq, type, value, malware, position in connection.execute(_NAMED, (seq,))
    ]
    subjects.write(connection, article, named)
    return len(named)


def _redo_iocs(connection: sqlite3.Connection, *, after: int, clock: Clock, run: str) -> tuple[int, int] | None:
    rows = connection.execute(_SOME_IOCS, (after, IOCS_AT_ONCE)).fetchall()
    if not rows:
        word_index.follow_writes(connection, IOC_WORDS, run)
        return None
    derivation = Derivation(connection)
    derivation.note(row["seq"] for row in rows)
    connection.executemany("UPDATE iocs SET ip = ?, name = ? WHERE seq = ?", map(_keys, rows))
    derivation.derive(next_moment(connection, to_milliseconds(clock())), rewrite=True)
    last = rows[-1]["seq"]
    ours = word_index.add_rebuilt(connection, run, words_between(connection, after, last), last)
    return (len(rows), last) if ours else None


def _keys(row: sqlite3.Row) -> tuple[bytes | None, str | None, int]:
    return (*search_keys(row["type"], row["value"]), row["seq"])


def _drop_listed(connection: sqlite3.Connection, *, after: Key) -> Key | None:
    """Drop strays from the lists of sources."""
    return _drop_between(connection, _NEXT.format("source"), _STRAY_LISTED, after)


def _drop_of_malware(connection: sqlite3.Connection, *, after: Key) -> Key | None:
    """Drop strays from the lists of malware."""
    connection.create_function("casefold", 1, str.casefold, deterministic=True)
    return _drop_between(connection, _NEXT.format("malware"), _STRAY_MALWARE, after)


def _drop_between(connection: sqlite3.Connection, next: str, strays: str, after: Key) -> Key | None:
    last = connection.execute(next, (*after, _LISTED_AT_ONCE - 1)).fetchone()
    connection.execute(strays, (*after, _LISTED_AT_ONCE))
    return None if last is None else tuple(last)


def _drop_strays(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM mentions WHERE article_id NOT IN (SELECT id FROM articles)")
    connection.execute("DELETE FROM article_observables WHERE article_id NOT IN (SELECT id FROM articles)")
    _count_all(connection)
    tally.count_all(connection)
    for statement in _COUNT_ARTICLES:
        connection.execute(statement)


_SOME_IOCS = "SELECT seq, type, value FROM iocs WHERE seq > ? ORDER BY seq LIMIT ?"
_IOCS_BETWEEN = "SELECT seq, type, value, sightings FROM iocs WHERE seq > ? AND seq <= ? ORDER BY seq"
_LISTED_AT_ONCE = 20_000
_BEFORE_ALL: Key = (-1, 0, b"")
_NEXT = """
    SELECT {0}_seq, newest_first, id FROM {0}_lists WHERE ({0}_seq, newest_first, id) > (?, ?, ?)
    ORDER BY {0}_seq, newest_first, id LIMIT 1 OFFSET ?
"""
# The keys come in order from the table itself, few at a time.
_STRAYS = """
    DELETE FROM {0}_lists WHERE ({0}_seq, newest_first, id) IN (
        SELECT {0}_seq, newest_first, id FROM (
            SELECT {0}_seq, newest_first, id, ioc_seq FROM {0}_lists WHERE ({0}_seq, newest_first, id) > (?, ?, ?)
            ORDER BY {0}_seq, newest_first, id LIMIT ?
        ) AS listed WHERE NOT EXISTS ({1} AND i.newest_first = listed.newest_first AND i.id = listed.id)
    )
"""
_STRAY_LISTED = _STRAYS.format(
    "source",
    """
    SELECT 1 FROM iocs AS i JOIN ioc_sources AS s ON s.ioc_seq = i.seq AND s.source_seq = listed.source_seq
    WHERE i.seq = listed.ioc_seq
    """,
)
_STRAY_MALWARE = _STRAYS.format(
    "malware",
    """
    SELECT 1 FROM iocs AS i CROSS JOIN json_each(i.malware) AS near
    CROSS JOIN malware_names AS n ON n.name = casefold(near.value)
    WHERE i.seq = listed.ioc_seq AND n.seq = listed.malware_seq
    """,
)
_NAMED = """
    SELECT s.ioc_seq, i.type, i.value, s.malware, s.position
    FROM sightings AS s INDEXED BY sightings_of_article CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
    WHERE s.article_seq = ? ORDER BY s.position
"""
_COUNT_ARTICLES = (
    "UPDATE sources SET articles = (SELECT count(*) FROM articles WHERE source_name = sources.name)",
    "DELETE FROM article_days",
    """
    INSERT INTO article_days (starts_at, articles, last_save)
        SELECT seen_at - (seen_at % 86400000 + 86400000) % 86400000 AS day, count(*), max(save_number)
        FROM articles GROUP BY day
    """,
    "DELETE FROM submission_counts",
    "INSERT INTO submission_counts (status, submissions) SELECT status, count(*) FROM submissions GROUP BY status",
)
# What is counted by an index in its order is not sorted: of a large store that would not fit into memory.
_WEEK = WEEK.replace("last_seen", "-newest_first")
_COUNT_ALL = (
    "DELETE FROM ioc_counts",
    f"""
    INSERT INTO ioc_counts (type, week, iocs)
        SELECT type, {_WEEK} AS week, sum(iocs) FROM (
            SELECT type, newest_first, count(*) AS iocs FROM iocs INDEXED BY iocs_of_type GROUP BY type, newest_first
        ) GROUP BY type, week
    """,
    "DELETE FROM source_counts",
    """
    INSERT INTO source_counts (source_seq, type, iocs)
        SELECT source_seq, type, count(*) FROM source_lists INDEXED BY source_lists_of_type GROUP BY source_seq, type
    """,
    "DELETE FROM source_weeks",
    f"""
    INSERT INTO source_weeks (source_seq, type, week, iocs)
        SELECT source_seq, type, {_WEEK} AS week, sum(iocs) FROM (
            SELECT source_seq, type, newest_first, count(*) AS iocs FROM source_lists INDEXED BY source_lists_of_type
            GROUP BY source_seq, type, newest_first
        ) GROUP BY source_seq, type, week
    """,
)
