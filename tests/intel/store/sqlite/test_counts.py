"""What is told of the whole store is counted as it is written, and is what counting all of it would give."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from intel.records import Article
from intel.store.sqlite.connection import Database
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import hour, make_article, make_submission, publish

_DAY = 24


def counted(connection: sqlite3.Connection) -> tuple[object, ...]:
    sources = connection.execute("SELECT name, articles FROM sources WHERE articles > 0 ORDER BY name").fetchall()
    days = connection.execute("SELECT * FROM article_days WHERE articles > 0 ORDER BY starts_at").fetchall()
    submissions = connection.execute("SELECT * FROM submission_counts WHERE submissions > 0 ORDER BY status").fetchall()
    return [*map(tuple, sources)], [*map(tuple, days)], [*map(tuple, submissions)]


def recounted(connection: sqlite3.Connection) -> tuple[object, ...]:
    sources = connection.execute("SELECT source_name, count(*) FROM articles GROUP BY 1 ORDER BY 1").fetchall()
    days = connection.execute(
        "SELECT seen_at / 86400000 * 86400000, count(*), max(save_number) FROM articles GROUP BY 1 ORDER BY 1"
    ).fetchall()
    submissions = connection.execute("SELECT status, count(*) FROM submissions GROUP BY 1 ORDER BY 1").fetchall()
    return [*map(tuple, sources)], [*map(tuple, days)], [*map(tuple, submissions)]


async def test_kept_numbers_follow_articles_that_come_move_and_go(store: SqliteStore, database: Database) -> None:
    async def hold() -> None:
        assert await database.read(counted) == await database.read(recounted)
        for end in (0, 1, _DAY, 1.5 * _DAY, 3 * _DAY, 100 * _DAY):
            assert await store.articles.basis(hour(0), hour(end)) == await database.read(lambda c, e=end: basis(c, e))  # type: ignore[misc]

    def basis(connection: sqlite3.Connection, end: float) -> str:
        asked = (int(hour(end).timestamp() * 1000),)
        sql = "SELECT count(*) || '-' || coalesce(max(save_number), 0) FROM articles WHERE seen_at < ?"
        (found,) = connection.execute(sql, asked).fetchone()
        return str(found)

    saved: list[Article] = []
    for number in range(8):
        article = make_article(f"a{number}", at=number * 7, source=f"Blog {number % 3}")
        saved.append(await publish(store, article, f"domain d{number}.example"))
    await hold()
    await store.articles.save(replace(saved[2], source_name="Another"), [], [])
    await store.articles.save(replace(saved[7], published_at=hour(0.5)), [], [])
    await store.articles.save(replace(saved[3], published_at=hour(90)), [], [])
    await hold()
    for article in (saved[7], saved[3], saved[0]):
        await store.articles.remove(article.id)
        await hold()
    one = make_submission()
    await store.submissions.add(one)
    await hold()
    assert (await store.totals()).submissions == {one.status: 1}
