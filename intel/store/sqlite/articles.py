"""Articles: reading them, and saving one with what was seen in it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from intel.query import ArticleQuery, Page, Position
from intel.records import Article, ArticleTotals, Ioc, SeenIoc, Sighting
from intel.store.outline import WeekOutline
from intel.store.port import Entry
from intel.store.sqlite import finding
from intel.store.sqlite.connection import Database
from intel.store.sqlite.iocs import count, read_page
from intel.store.sqlite.kinds import WEEK, WEEK_MILLISECONDS, week_begins, week_of
from intel.store.sqlite.packing import unpack_text
from intel.store.sqlite.rows import (
    ARTICLE_COLUMNS,
    ARTICLES_WITH_TEXT,
    IOC_COLUMNS,
    article,
    article_with_text,
    id_bytes,
    id_text,
    ioc,
    moment,
    sightings_of,
    to_json,
)
from intel.store.sqlite.saving import change_tlp, remove, save
from intel.store.sqlite.tally import ARTICLES_BETWEEN, tally
from intel.store.tally import Indicator, Tally, Told, untold
from intel.times import from_milliseconds, monday_of, to_milliseconds
from intel.tlp import Tlp


class SqliteArticles:
    """The articles of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def save(self, article: Article, sightings: Sequence[Sighting], addresses: Sequence[str]) -> Article:
        (saved,) = await self.save_many([Entry(article, sightings, addresses)])
        return saved

    async def save_many(self, entries: Sequence[Entry]) -> tuple[Article, ...]:
        prepared = [replace(one, article=_counted(one)) for one in entries]
        if prepared:
            await self._database.write(lambda connection: save(connection, prepared, to_milliseconds(self._clock())))
        return tuple(one.article for one in prepared)

    async def change_tlp(self, id: str, tlp: Tlp | None) -> Article | None:
        now = to_milliseconds(self._clock())

        def work(connection: sqlite3.Connection) -> Article | None:
            before = _with_text(connection, id)
            if before is not None and before.tlp != tlp:
                change_tlp(connection, id, tlp, now)
            return before

        return await self._database.write(work)

    async def remove(self, id: str, *, expired: bool = False) -> bool:
        now = to_milliseconds(self._clock())
        return await self._database.write(lambda connection: remove(connection, id, now, expired=expired))

    async def finish_removals(self) -> None:
        """Nothing is left to finish: a transaction removes an article whole or not at all."""

    async def id_of(self, address: str) -> str | None:
        sql = "SELECT article_id FROM addresses WHERE address = ? ORDER BY claimed, article_id LIMIT 1"
        row = await self._database.read(lambda connection: connection.execute(sql, (address,)).fetchone())
        return row["article_id"] if row else None

    async def ids_of(self, addresses: Sequence[str]) -> dict[str, str]:
        asked = (to_json(list(addresses)),)
        rows = await self._database.read(lambda connection: connection.execute(_IDS_OF, asked).fetchall())
        return {row["address"]: row["article_id"] for row in rows if row["article_id"]}

    async def get(self, id: str) -> Article | None:
        return await self._database.read(lambda connection: _with_text(connection, id))

    async def get_many(self, ids: Sequence[str]) -> dict[str, Article]:
        return await self._database.read(lambda connection: _get_many(connection, ids))

    async def find(self, query: ArticleQuery) -> Page[Article]:
        return await self._database.read(lambda connection: _find(connection, query))

    async def totals(self) -> ArticleTotals:
        return await self._database.read_unless_kept(article_totals, article_totals)

    async def newest_titles(self, limit: int) -> tuple[tuple[str, str], ...]:
        return await self._database.read_at_once(
            lambda connection: tuple(map(tuple, connection.execute(_NEWEST_TITLES, (limit,))))
        )

    async def texts(self, ids: Sequence[str]) -> dict[str, str]:
        return await self._database.read(lambda connection: _texts(connection, ids))

    async def iocs_of(self, id: str, limit: int, after: Position | None = None) -> Page[Ioc]:
        return await self._database.read(lambda connection: _iocs_of(connection, id, limit, after))

    async def sightings_of(self, id: str) -> tuple[Sighting, ...]:
        def work(connection: sqlite3.Connection) -> tuple[Sighting, ...]:
            row = connection.execute("SELECT seq FROM articles WHERE id = ?", (id,)).fetchone()
            return sightings_of(connection, row["seq"]) if row else ()

        return await self._database.read(work)

    async def iocs_among(self, id: str, ioc_ids: Sequence[str]) -> dict[str, Ioc]:
        def work(connection: sqlite3.Connection) -> dict[str, Ioc]:
            rows = (connection.execute(_IOC_IN, (id, id_bytes(one))).fetchone() for one in dict.fromkeys(ioc_ids))
            return {found.id: found for found in (ioc(row) for row in rows if row is not None)}

        return await self._database.read(work)

    async def between(self, start: datetime, end: datetime) -> tuple[Article, ...]:
        span = (to_milliseconds(start), to_milliseconds(end))
        return await self._database.read(
            lambda connection: tuple(map(article, connection.execute(ARTICLES_BETWEEN, span)))
        )

    async def seen_between(self, start: datetime, end: datetime) -> AsyncIterator[SeenIoc]:
        span = (to_milliseconds(start), to_milliseconds(end))
        moments: dict[int, datetime] = {}  # those of an article's indicators are mostly the article's
        async for id, type, value, article_id, source, seen_at, malware, first_seen in self._database.stream(
            _SEEN_BETWEEN, span
        ):
            for time in (seen_at, first_seen):
                if time not in moments:
                    moments[time] = from_milliseconds(time)
            names = () if malware == "[]" else tuple(json.loads(malware))
            seen, first = moments[seen_at], moments[first_seen]
            yield SeenIoc(id_text(id), type, value, article_id, source, seen, first, names)

    async def tally(
        self, monday: datetime, watch: Collection[Indicator] = (), told: Told = untold, rest_seconds: float = 0.0
    ) -> Tally:
        return await self._database.read(lambda connection: tally(connection, monday, watch))

    async def basis(self, start: datetime, end: datetime) -> str:
        # What lies before the span counts too: it decides what was seen first, and which copy is the earliest.
        asked = {"end": to_milliseconds(end)}
        row = await self._database.read_at_once(lambda connection: connection.execute(_BASIS, asked).fetchone())
        return f"{row[0]}-{row[1]}"

    async def outline(self, monday: datetime) -> WeekOutline:
        return await self._database.read_at_once(lambda connection: _outline(connection, to_milliseconds(monday)))

    async def weeks(self) -> tuple[datetime, ...]:
        return await self._database.read_at_once(lambda connection: tuple(_weeks(connection)))

    async def by_week(self, most: int, source: str | None = None) -> dict[datetime, int]:
        return await self._database.read(lambda connection: _by_week(connection, most, source))


def article_totals(connection: sqlite3.Connection) -> ArticleTotals:
    """Return how many articles and sources there are."""
    articles, sources = connection.execute(_TOTALS).fetchone()
    (newest,) = connection.execute("SELECT max(seen_at) FROM articles").fetchone()
    return ArticleTotals(articles, sources, moment(newest))


def _counted(entry: Entry) -> Article:
    return replace(entry.article, ioc_counts=dict(Counter(sighting.type for sighting in entry.sightings)))


def _find(connection: sqlite3.Connection, query: ArticleQuery) -> Page[Article]:
    total = count(connection, finding.article_total(query)) if query.after is None else None
    return read_page(connection, finding.article_list(query), total, query.limit, _in_order)


def _in_order(connection: sqlite3.Connection, seqs: Sequence[int]) -> tuple[Article, ...]:
    sql = f"SELECT {ARTICLE_COLUMNS} FROM articles WHERE seq = ?"
    return tuple(article(connection.execute(sql, (seq,)).fetchone()) for seq in seqs)


def _with_text(connection: sqlite3.Connection, id: str) -> Article | None:
    row = connection.execute(f"{ARTICLES_WITH_TEXT} WHERE id = ?", (id,)).fetchone()
    return article_with_text(row) if row else None


def _get_many(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Article]:
    sql = f"SELECT {ARTICLE_COLUMNS} FROM articles WHERE id IN (SELECT value FROM json_each(?))"
    return {row["id"]: article(row) for row in connection.execute(sql, (to_json(list(ids)),))}


def _texts(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, str]:
    found = {row["id"]: unpack_text(row["text"]) for row in connection.execute(_TEXTS, (to_json(list(ids)),))}
    return {id: text for id, text in found.items() if text is not None}


def _iocs_of(connection: sqlite3.Connection, id: str, limit: int, after: Position | None) -> Page[Ioc]:
    position, last = after.values if after else (-1, "")
    asked = {"article": id, "position": position, "id": id_bytes(str(last)), "most": limit + 1}
    rows = connection.execute(IOCS_OF, asked).fetchall()
    more = rows[limit - 1] if len(rows) > limit else None
    next = Position((more["position"], id_text(more["id"]))) if more else None
    return Page(tuple(map(ioc, rows[:limit])), None, next)


def _outline(connection: sqlite3.Connection, monday: int) -> WeekOutline:
    """Read what is counted as articles are written."""
    week = (week_of(monday),)
    (articles,) = connection.execute(_ARTICLES_OF_WEEK, (monday, monday + WEEK_MILLISECONDS)).fetchone()
    (sources,) = connection.execute(_SOURCES_OF_WEEK, week).fetchone()
    return WeekOutline(articles, sources, dict(connection.execute(_IOCS_OF_WEEK, week).fetchall()))


def _weeks(connection: sqlite3.Connection) -> Iterator[datetime]:
    """Read which weeks have articles from what is counted by day as articles are written."""
    return (from_milliseconds(week_begins(week)) for (week,) in connection.execute(_WEEKS))


def _by_week(connection: sqlite3.Connection, most: int, source: str | None) -> dict[datetime, int]:
    newest = connection.execute(_NEWEST_OF if source else _NEWEST, {"source": source}).fetchone()[0]
    if newest is None:
        return {}
    start = monday_of(from_milliseconds(newest)) - timedelta(weeks=most - 1)
    asked = {"start": to_milliseconds(start), "source": source}
    rows = connection.execute(_BY_WEEK_OF if source else _BY_WEEK, asked)
    return {start + timedelta(weeks=week): count for week, count in rows if count}


_ARTICLES_OF_WEEK = "SELECT coalesce(sum(articles), 0) FROM article_days WHERE starts_at >= ? AND starts_at < ?"
_SOURCES_OF_WEEK = "SELECT count(DISTINCT source_seq) FROM source_weeks WHERE week = ? AND iocs > 0"
_IOCS_OF_WEEK = "SELECT type, iocs FROM ioc_counts WHERE week = ? AND iocs > 0"
_WEEKS = f"""
    SELECT DISTINCT {WEEK.replace("last_seen", "starts_at")} AS week FROM article_days WHERE articles > 0
    ORDER BY week DESC
"""
_NEWEST = "SELECT max(seen_at) FROM articles"
_NEWEST_OF = "SELECT -min(newest_first) FROM articles WHERE source_name = :source"
_BY_WEEK = """
    SELECT (starts_at - :start) / 604800000 AS week, sum(articles) FROM article_days
    WHERE starts_at >= :start GROUP BY week ORDER BY week DESC
"""
_BY_WEEK_OF = """
    SELECT (-newest_first - :start) / 604800000 AS week, count(*) FROM articles
    WHERE source_name = :source AND newest_first <= -:start GROUP BY week ORDER BY week DESC
"""
# Whole days are counted as articles are written; what is read one by one is of the last day.
_BASIS = """
    WITH days AS (
            SELECT * FROM article_days
            WHERE starts_at <= :end - 86400000 OR (SELECT max(seen_at) FROM articles) < :end
        ),
        rest AS (
            SELECT save_number FROM articles
            WHERE seen_at >= coalesce((SELECT max(starts_at) + 86400000 FROM days), -9e15) AND seen_at < :end
        )
    SELECT coalesce((SELECT sum(articles) FROM days), 0) + (SELECT count(*) FROM rest),
        max(coalesce((SELECT max(last_save) FROM days), 0), coalesce((SELECT max(save_number) FROM rest), 0))
"""
_TOTALS = "SELECT coalesce(sum(articles), 0), coalesce(sum(articles > 0), 0) FROM sources"
_NEWEST_TITLES = "SELECT title, source_name FROM articles ORDER BY newest_first, id LIMIT ?"
_TEXTS = """
    SELECT a.id, t.text FROM json_each(?) AS wanted
    JOIN articles AS a ON a.id = wanted.value JOIN article_texts AS t ON t.seq = a.seq
"""
_IDS_OF = """
    SELECT wanted.value AS address, (
        SELECT article_id FROM addresses WHERE address = wanted.value ORDER BY claimed, article_id LIMIT 1
    ) AS article_id FROM json_each(?) AS wanted
"""
# CROSS JOIN keeps the engine from beginning with the larger table.
IOCS_OF = f"""
    SELECT s.position, {IOC_COLUMNS}
    FROM sightings AS s INDEXED BY sightings_of_article
    CROSS JOIN iocs AS i ON i.seq = s.ioc_seq CROSS JOIN articles AS a ON a.seq = i.article_seq
    WHERE s.article_seq = (SELECT seq FROM articles WHERE id = :article)
        AND s.position >= :position AND (s.position, i.id) > (:position, :id)
    ORDER BY s.position, i.id LIMIT :most
"""
_IOC_IN = f"""
    SELECT {IOC_COLUMNS} FROM articles AS named CROSS JOIN iocs AS i
    CROSS JOIN sightings AS s
        ON s.ioc_seq = i.seq AND s.newest_first = -named.seen_at AND s.article_seq = named.seq
    CROSS JOIN articles AS a ON a.seq = i.article_seq
    WHERE named.id = ? AND i.id = ?
"""
_SEEN_BETWEEN = """
    SELECT i.id AS ioc_id, i.type, i.value, a.id AS article_id, a.counted_source, a.seen_at, s.malware, i.first_seen
    FROM articles AS a CROSS JOIN sightings AS s INDEXED BY sightings_of_article ON s.article_seq = a.seq
    CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
    WHERE a.seen_at >= ? AND a.seen_at < ? ORDER BY i.id, a.id
"""
