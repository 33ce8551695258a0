"""What is derived from sightings: always computed anew from all of an indicator's sightings, never counted up.

The indicators to derive again stand in a temporary table, so that twenty thousand of them cost a few statements. What
each said before stands beside it: one that says something else afterwards has changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from intel.records import NEWEST_ARTICLES
from intel.store.sqlite.changes import CONTENT, number_changes
from intel.store.sqlite.matching import host_column, text_column, value_column
from intel.store.sqlite.rows import to_json


class _Words(NamedTuple):
    seq: int
    value: str
    article: str
    host: str


def begin(connection: sqlite3.Connection) -> None:
    """Nothing has changed yet in this transaction."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS changed (id TEXT PRIMARY KEY, before TEXT) WITHOUT ROWID")
    connection.execute("DELETE FROM changed")


def changed(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Note indicators that must be derived again; to be called before their sightings or articles change."""
    connection.executemany(_NOTE, ((id,) for id in ids))


def count_cluster(connection: sqlite3.Connection, cluster_id: str) -> None:
    """Let every article of a cluster count for the source of the earliest one."""
    first = connection.execute(_FIRST_OF_CLUSTER, (cluster_id,)).fetchone()
    if first is not None:
        connection.execute(_CHANGED_BY_CLUSTER, (cluster_id, first["source"]))
        connection.execute(_COUNT_CLUSTER, (first["source"], cluster_id, first["source"]))


def derive(connection: sqlite3.Connection, now: datetime, *, rewrite_words: bool = False) -> None:
    """Bring every noted indicator in line with its sightings, and number what changed; one without any goes.

    Words are written only where they differ, unless `rewrite_words`.
    """
    unseen = connection.execute(_UNSEEN).fetchall()
    connection.executemany("DELETE FROM ioc_words WHERE rowid = ?", ((row["seq"],) for row in unseen))
    connection.executemany("DELETE FROM iocs WHERE seq = ?", ((row["seq"],) for row in unseen))
    for statement in _DERIVE:
        connection.execute(statement)
    ids = [id for (id,) in connection.execute("SELECT id FROM changed")]
    _write_newest(connection, ids, rewrite_words)
    number_changes(connection, unseen, now)


def _write_newest(connection: sqlite3.Connection, ids: Sequence[str], rewrite_words: bool) -> None:
    titles: dict[str, tuple[str, str]] = {}
    known = {row["rowid"]: row["article"] for row in connection.execute(_KNOWN_WORDS)}
    added, altered, malware = [], [], []
    for id, names, texts in _newest_articles(connection, ids, titles):
        row = connection.execute("SELECT seq, type, value FROM iocs WHERE id = ?", (id,)).fetchone()
        article = text_column((*texts, *names))
        malware.append((to_json(names), row["seq"]))
        if rewrite_words or row["seq"] not in known:
            type, value = row["type"], row["value"]
            added.append(_Words(row["seq"], value_column(type, value), article, host_column(id, type, value)))
        elif known[row["seq"]] != article:
            altered.append((article, row["seq"]))
    connection.executemany("UPDATE iocs SET malware = ? WHERE seq = ?", malware)
    connection.executemany("REPLACE INTO ioc_words (rowid, value, article, host) VALUES (?, ?, ?, ?)", added)
    connection.executemany("UPDATE ioc_words SET article = ? WHERE rowid = ?", altered)


def _newest_articles(
    connection: sqlite3.Connection, ids: Sequence[str], titles: dict[str, tuple[str, str]]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """(id, malware names, titles and source names) of each indicator's newest articles; `titles` is what was read."""
    for id in ids:
        newest = connection.execute(_NEWEST, (id, NEWEST_ARTICLES)).fetchall()
        if not newest:
            continue
        names = dict.fromkeys(name for _, malware in newest for name in json.loads(malware))
        texts: list[str] = []
        for article_id, _ in newest:
            if article_id not in titles:
                titles[article_id] = connection.execute(_TITLE, (article_id,)).fetchone()
            texts += titles[article_id]
        yield id, list(names), texts


_NOTE = f"""
    INSERT OR IGNORE INTO changed (id, before)
    SELECT wanted.id, {CONTENT}
    FROM (SELECT ? AS id) AS wanted
    LEFT JOIN iocs AS i ON i.id = wanted.id LEFT JOIN articles AS a ON a.id = i.article_id
"""
_NEWEST = "SELECT article_id, malware FROM sightings WHERE ioc_id = ? ORDER BY newest_first, article_id LIMIT ?"
_TITLE = "SELECT title, source_name FROM articles WHERE id = ?"
# CROSS JOIN keeps the engine from beginning with the larger table.
_KNOWN_WORDS = """
    SELECT w.rowid, w.article
    FROM changed AS c CROSS JOIN iocs AS i ON i.id = c.id CROSS JOIN ioc_words AS w ON w.rowid = i.seq
"""
_UNSEEN = """
    SELECT i.seq, i.id, i.type, i.value FROM changed AS c CROSS JOIN iocs AS i ON i.id = c.id
    WHERE NOT EXISTS (SELECT 1 FROM sightings WHERE ioc_id = i.id)
"""
_FIRST_OF_CLUSTER = """
    SELECT coalesce(source_domain, source_name) AS source FROM articles
    WHERE cluster_id = ? ORDER BY seen_at, id LIMIT 1
"""
_CHANGED_BY_CLUSTER = f"""
    INSERT OR IGNORE INTO changed (id, before)
    SELECT i.id, {CONTENT}
    FROM articles AS copy JOIN sightings AS s ON s.article_id = copy.id
    JOIN iocs AS i ON i.id = s.ioc_id JOIN articles AS a ON a.id = i.article_id
    WHERE copy.cluster_id = ? AND s.counted_source <> ?
"""
_COUNT_CLUSTER = """
    UPDATE sightings SET counted_source = ?
    WHERE article_id IN (SELECT id FROM articles WHERE cluster_id = ?) AND counted_source <> ?
"""
_DERIVE = (
    """
    UPDATE iocs SET
        (first_seen, last_seen, sightings, sources) = (
            SELECT -max(newest_first), -min(newest_first), count(*), count(DISTINCT counted_source)
            FROM sightings INDEXED BY sightings_newest WHERE ioc_id = iocs.id
        ),
        (article_id, context) = (
            SELECT article_id, context FROM sightings WHERE ioc_id = iocs.id ORDER BY newest_first, article_id LIMIT 1
        )
    WHERE id IN (SELECT id FROM changed)
    """,
    """
    DELETE FROM ioc_sources
    WHERE seq IN (SELECT i.seq FROM changed AS c CROSS JOIN iocs AS i ON i.id = c.id)
    """,
    """
    INSERT INTO ioc_sources (seq, source_name, id, type, newest_first)
    SELECT DISTINCT i.seq, s.source_name, i.id, i.type, i.newest_first
    FROM changed AS c CROSS JOIN iocs AS i ON i.id = c.id CROSS JOIN sightings AS s ON s.ioc_id = i.id
    """,
)
