"""Articles: reading them, and saving one with what was seen in it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from intel.ids import ioc_id
from intel.query import ArticleQuery, Page, Position
from intel.records import REMOVED, Article, Ioc, SeenIoc, Sighting
from intel.store.sqlite import deriving, finding
from intel.store.sqlite.connection import Database
from intel.store.sqlite.iocs import count, read_page
from intel.store.sqlite.matching import ip_bytes
from intel.store.sqlite.rows import (
    ARTICLE_COLUMNS,
    ARTICLES_WITH_TEXT,
    IOC_COLUMNS,
    article,
    ioc,
    milliseconds,
    to_json,
)
from intel.times import from_milliseconds, to_milliseconds
from intel.words import encoded_words


class SqliteArticles:
    """The articles of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def save(self, article: Article, sightings: Sequence[Sighting], addresses: Sequence[str]) -> Article:
        counted = replace(article, ioc_counts=dict(Counter(sighting.type for sighting in sightings)))
        await self._database.write(lambda connection: _save(connection, counted, sightings, addresses, self._clock))
        return counted

    async def remove(self, id: str) -> bool:
        return await self._database.write(lambda connection: _remove(connection, id, self._clock))

    async def finish_removals(self) -> None:
        """Nothing is left to finish: a transaction removes an article whole or not at all."""

    async def id_of(self, address: str) -> str | None:
        sql = "SELECT article_id FROM addresses WHERE address = ? ORDER BY claimed, article_id LIMIT 1"
        row = await self._database.read(lambda connection: connection.execute(sql, (address,)).fetchone())
        return row["article_id"] if row else None

    async def get(self, id: str) -> Article | None:
        sql = f"{ARTICLES_WITH_TEXT} WHERE id = ?"
        row = await self._database.read(lambda connection: connection.execute(sql, (id,)).fetchone())
        return article(row, row["text"]) if row else None

    async def find(self, query: ArticleQuery) -> Page[Article]:
        return await self._database.read(lambda connection: _find(connection, query))

    async def texts(self, ids: Sequence[str]) -> dict[str, str]:
        asked = (to_json(list(ids)),)
        rows = await self._database.read(lambda connection: connection.execute(_TEXTS, asked).fetchall())
        return {row["id"]: row["text"] for row in rows}

    async def iocs_of(self, id: str, limit: int, after: Position | None = None) -> Page[Ioc]:
        return await self._database.read(lambda connection: _iocs_of(connection, id, limit, after))

    async def iocs_among(self, id: str, ioc_ids: Sequence[str]) -> dict[str, Ioc]:
        asked = (to_json(list(ioc_ids)), id)
        return await self._database.read(
            lambda connection: {row["id"]: ioc(row) for row in connection.execute(_IOCS_AMONG, asked)}
        )

    async def between(self, start: datetime, end: datetime) -> tuple[Article, ...]:
        span = (to_milliseconds(start), to_milliseconds(end))
        return await self._database.read(lambda connection: tuple(map(article, connection.execute(_BETWEEN, span))))

    async def seen_between(self, start: datetime, end: datetime) -> AsyncIterator[SeenIoc]:
        span = (to_milliseconds(start), to_milliseconds(end))
        async for row in self._database.stream(_SEEN_BETWEEN, span):
            moments = {name: from_milliseconds(row[name]) for name in ("seen_at", "first_seen")}
            yield SeenIoc(**{**dict(row), **moments, "malware": tuple(json.loads(row["malware"]))})

    async def basis(self, start: datetime, end: datetime) -> str:
        # What lies before the span counts too: it decides what was seen first, and which copy is the earliest.
        sql = "SELECT count(*), coalesce(max(save_number), 0) FROM articles WHERE seen_at < ?"
        row = await self._database.read(lambda connection: connection.execute(sql, (to_milliseconds(end),)).fetchone())
        return f"{row[0]}-{row[1]}"

    async def weeks(self) -> tuple[datetime, ...]:
        return await self._database.read(lambda connection: tuple(_weeks(connection)))


def write_words(connection: sqlite3.Connection, seq: int, article: Article) -> None:
    """What searches for articles read."""
    texts = (article.title, article.summary, article.text or "", article.source_name)
    connection.execute(
        "REPLACE INTO article_words (rowid, title, summary, text, source_name) VALUES (?, ?, ?, ?, ?)",
        (seq, *map(encoded_words, texts)),
    )


def _find(connection: sqlite3.Connection, query: ArticleQuery) -> Page[Article]:
    total = count(connection, finding.article_total(query)) if query.after is None else None
    return read_page(connection, finding.article_list(query), total, query.limit, _in_order)


def _in_order(connection: sqlite3.Connection, ids: Sequence[str]) -> tuple[Article, ...]:
    sql = f"SELECT {ARTICLE_COLUMNS} FROM articles WHERE id IN (SELECT value FROM json_each(?))"
    found = {row["id"]: article(row) for row in connection.execute(sql, (to_json(list(ids)),))}
    return tuple(found[id] for id in ids)


def _iocs_of(connection: sqlite3.Connection, id: str, limit: int, after: Position | None) -> Page[Ioc]:
    rows = connection.execute(IOCS_OF, (id, *(after.values if after else _BEFORE_ALL), limit + 1)).fetchall()
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(tuple(map(ioc, rows[:limit])), None, Position((last["position"], last["id"])) if last else None)


def _weeks(connection: sqlite3.Connection) -> Iterator[datetime]:
    """From one week to the one before it, so that a week costs one look however many articles it has."""
    newest = connection.execute("SELECT max(seen_at) FROM articles").fetchone()
    while newest[0] is not None:
        day = from_milliseconds(newest[0])
        monday = (day - timedelta(days=day.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
        yield monday
        before = (to_milliseconds(monday),)
        newest = connection.execute("SELECT max(seen_at) FROM articles WHERE seen_at < ?", before).fetchone()


def _save(
    connection: sqlite3.Connection,
    article: Article,
    sightings: Sequence[Sighting],
    addresses: Sequence[str],
    clock: Callable[[], datetime],
) -> None:
    deriving.begin(connection)
    before = connection.execute("SELECT cluster_id FROM articles WHERE id = ?", (article.id,)).fetchone()
    deriving.changed(connection, _seen_in(connection, article.id))
    deriving.changed(connection, (ioc_id(sighting.type, sighting.value) for sighting in sightings))
    (number,) = connection.execute("UPDATE save_numbers SET last = last + 1 RETURNING last").fetchone()
    (seq,) = connection.execute(_PUT_ARTICLE, _article_row(article) | {"save_number": number}).fetchone()
    connection.execute("REPLACE INTO article_texts (seq, text) VALUES (?, ?)", (seq, article.text))
    write_words(connection, seq, article)
    connection.executemany(_PUT_ADDRESS, ((address, article.id, number) for address in addresses))
    _replace_sightings(connection, article, sightings)
    for cluster_id in {article.cluster_id, before["cluster_id"] if before else article.cluster_id}:
        deriving.count_cluster(connection, cluster_id)
    deriving.derive(connection, clock())


def _remove(connection: sqlite3.Connection, id: str, clock: Callable[[], datetime]) -> bool:
    article = connection.execute("SELECT seq, cluster_id FROM articles WHERE id = ?", (id,)).fetchone()
    if article is None:
        return False
    # Until they are derived again, indicators point at the article that is gone.
    connection.execute("PRAGMA defer_foreign_keys = ON")
    deriving.begin(connection)
    deriving.changed(connection, _seen_in(connection, id))
    forgotten = {"id": id, "seq": article["seq"], "detail": REMOVED}
    for statement in _FORGET:
        connection.execute(statement, {name: forgotten[name] for name in forgotten if f":{name}" in statement})
    deriving.count_cluster(connection, article["cluster_id"])
    deriving.derive(connection, clock())
    connection.execute(_FORGET_VOTES)
    return True


def _seen_in(connection: sqlite3.Connection, article_id: str) -> list[str]:
    return [id for (id,) in connection.execute("SELECT ioc_id FROM sightings WHERE article_id = ?", (article_id,))]


def _replace_sightings(connection: sqlite3.Connection, article: Article, sightings: Sequence[Sighting]) -> None:
    seen_at = to_milliseconds(article.seen_at)
    ids = [ioc_id(sighting.type, sighting.value) for sighting in sightings]
    connection.executemany(
        _ADD_IOC,
        (
            (id, s.type, s.value, seen_at, seen_at, ip_bytes(s.value) if s.type == "ip" else None, article.id)
            for id, s in zip(ids, sightings, strict=True)
        ),
    )
    connection.execute("DELETE FROM sightings WHERE article_id = ?", (article.id,))
    name, counted = article.source_name, article.counted_source
    connection.executemany(
        _ADD_SIGHTING,
        (
            (id, article.id, s.position, seen_at, name, counted, to_json(s.malware), s.context)
            for id, s in zip(ids, sightings, strict=True)
        ),
    )


def _article_row(article: Article) -> dict[str, str | int | None]:
    return {
        "id": article.id,
        "url": article.url,
        "title": article.title,
        "source_name": article.source_name,
        "author": article.author,
        "published_at": milliseconds(article.published_at),
        "fetched_at": to_milliseconds(article.fetched_at),
        "seen_at": to_milliseconds(article.seen_at),
        "language": article.language,
        "summary": article.summary,
        "cluster_id": article.cluster_id,
        "notes": to_json(article.notes),
        "ioc_counts": to_json(article.ioc_counts),
        "ioc_dropped": article.ioc_dropped,
        "revision": article.revision,
        "findings": to_json(article.findings),
        "source_domain": article.source_domain,
    }


_FIELDS = (
    "url", "title", "source_name", "author", "published_at", "fetched_at", "seen_at", "language", "summary",
    "cluster_id", "notes", "ioc_counts", "ioc_dropped", "revision", "findings", "source_domain",
)  # fmt: skip
_PUT_ARTICLE = f"""
    INSERT INTO articles (id, save_number, {", ".join(_FIELDS)})
    VALUES (:id, :save_number, {", ".join(f":{name}" for name in _FIELDS)})
    ON CONFLICT (id) DO UPDATE
        SET save_number = excluded.save_number, {", ".join(f"{name} = excluded.{name}" for name in _FIELDS)}
    RETURNING seq
"""
_PUT_ADDRESS = "INSERT INTO addresses (address, article_id, claimed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_FORGET = (
    "DELETE FROM sightings WHERE article_id = :id",
    "DELETE FROM addresses WHERE article_id = :id",
    "DELETE FROM readings WHERE article_id = :id",
    "DELETE FROM article_texts WHERE seq = :seq",
    "DELETE FROM article_words WHERE rowid = :seq",
    """
    UPDATE submissions SET article_id = NULL, ioc_count = NULL, ioc_dropped = NULL, reason = 'removed', detail = :detail
    WHERE article_id = :id
    """,
    "DELETE FROM articles WHERE seq = :seq",
)
_FORGET_VOTES = """
    DELETE FROM votes WHERE ioc_id IN (SELECT id FROM changed) AND ioc_id NOT IN (SELECT id FROM iocs)
"""
_ADD_IOC = """
    INSERT INTO iocs (id, type, value, first_seen, last_seen, sightings, sources, ip, article_id, malware, context)
    VALUES (?, ?, ?, ?, ?, 1, 1, ?, ?, '[]', '') ON CONFLICT (id) DO NOTHING
"""
_ADD_SIGHTING = """
    INSERT INTO sightings (ioc_id, article_id, position, seen_at, source_name, counted_source, malware, context)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_TEXTS = """
    SELECT a.id, t.text FROM json_each(?) AS wanted
    JOIN articles AS a ON a.id = wanted.value JOIN article_texts AS t ON t.seq = a.seq WHERE t.text IS NOT NULL
"""
_BEFORE_ALL = (-1, "")
IOCS_OF = f"""
    SELECT s.position, {IOC_COLUMNS}
    FROM sightings AS s CROSS JOIN iocs AS i ON i.id = s.ioc_id CROSS JOIN articles AS a ON a.id = i.article_id
    WHERE s.article_id = ? AND (s.position, s.ioc_id) > (?, ?) ORDER BY s.position, s.ioc_id LIMIT ?
"""
_IOCS_AMONG = f"""
    SELECT {IOC_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN sightings AS s ON s.ioc_id = wanted.value
    JOIN iocs AS i ON i.id = s.ioc_id JOIN articles AS a ON a.id = i.article_id WHERE s.article_id = ?
"""
_BETWEEN = f"SELECT {ARTICLE_COLUMNS} FROM articles WHERE seen_at >= ? AND seen_at < ? ORDER BY seen_at, id"
_SEEN_BETWEEN = """
    SELECT s.ioc_id, i.type, i.value, s.article_id, s.counted_source, s.seen_at, s.malware, i.first_seen
    FROM articles AS a JOIN sightings AS s ON s.article_id = a.id JOIN iocs AS i ON i.id = s.ioc_id
    WHERE a.seen_at >= ? AND a.seen_at < ? ORDER BY s.ioc_id, s.article_id
"""
