"""A file that an earlier version wrote opens, keeps everything and goes on."""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from intel.errors import StoreDamaged
from intel.query import ArticleQuery, IocQuery, parse_search
from intel.records import Account, ApiKey, Article, Catalogue, Facets, Feed, Session, Submission, Vote, Week
from intel.store.sqlite.connection import connect
from intel.store.sqlite.matching import host_column, ip_bytes, text_column, value_column
from intel.store.sqlite.migrations import migrate
from intel.store.sqlite.store import SqliteStore
from intel.times import to_milliseconds
from intel.words import encoded_words
from search_mappings import sqlite_migrations
from tests.contract.store.builders import hour, id_of, listed, make_article, publish, query, search, the_ioc
from tests.contract.store.test_changes import Follower

INDICATORS = ("domain evil.example", "ip 192.0.2.1", "url http://evil.example/x")
FIRST, SECOND = (
    replace(make_article("first", at=1, source="Agency", title="First"), text="One ü\n" * 9_000),
    replace(make_article("second", at=2, title="Second", cluster="cluster-first"), text=None, url=None),
)
SUBMISSION = Submission(
    id="submission-one",
    account_id="account-1",
    url="https://news.example/one",
    source_name="news.example",
    status="queued",
    created_at=hour(0),
    due_at=hour(0),
)
ACCOUNT = Account("account-1", "one@site.example", "hash", hour(0), None, 3)
KEY = ApiKey("account-1", 2, "key", "digest", hour(1))
SESSION = Session("session-1", "account-1", 3, hour(0), hour(1), hour(24), "Mozilla")
WEEK = Week("2026-W47", 1, "2-2", hour(5), {"id": "2026-W47"})
FEED = Feed("feed-1", "https://news.example/feed", "News", hour(0), hour(1))


@pytest.fixture
def old_file(path: Path) -> Path:
    """The file as version 2 of its tables held it."""
    write_old_file(path, 2)
    return path


def write_old_file(path: Path, version: int) -> None:
    with old_tables(path, version) as connection:
        for seq, article in enumerate((FIRST, SECOND), start=1):
            insert_article(connection, seq, article)
        for seq, indicator in enumerate(INDICATORS, start=1):
            insert_indicator(connection, seq, indicator)
        insert_the_rest(connection)


@contextmanager
def old_tables(path: Path, version: int = 2) -> Iterator[sqlite3.Connection]:
    path.parent.mkdir(exist_ok=True)
    with closing(connect(path, mode="rwc")) as connection:
        migrate(connection, sqlite_migrations()[:version])
        yield connection


def insert(connection: sqlite3.Connection, table: str, **values: str | int | bytes | None) -> None:
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))  # noqa: S608 - our own names


def insert_article(connection: sqlite3.Connection, seq: int, article: Article) -> None:
    seen_at = to_milliseconds(article.seen_at)
    insert(
        connection, "articles", seq=seq, id=article.id, url=article.url, title=article.title, revision=seq,
        source_name=article.source_name, published_at=seen_at, fetched_at=to_milliseconds(article.fetched_at),
        seen_at=seen_at, language=article.language, summary=article.summary, cluster_id=article.cluster_id,
        notes='["cut"]', ioc_counts='{"domain":1,"ip":1,"url":1}', text=article.text,
    )  # fmt: skip
    insert(connection, "addresses", address=f"https://news.example/{seq}", article_id=article.id)
    words = {name: encoded_words(getattr(article, name) or "") for name in ("title", "summary", "text", "source_name")}
    insert(connection, "article_words", rowid=seq, **words)


def insert_indicator(connection: sqlite3.Connection, seq: int, indicator: str) -> None:
    type, _, value = indicator.partition(" ")
    id, last_seen = id_of(indicator), to_milliseconds(SECOND.seen_at)
    insert(
        connection, "iocs", seq=seq, id=id, type=type, value=value, first_seen=to_milliseconds(FIRST.seen_at),
        last_seen=last_seen, sightings=2, sources=1, ip=ip_bytes(value) if type == "ip" else None,
        article_id=SECOND.id, malware='["Emotet"]', context="It.",
    )  # fmt: skip
    article = text_column((SECOND.title, SECOND.source_name, FIRST.title, FIRST.source_name, "Emotet"))
    words = {"value": value_column(type, value), "host": host_column(type, value)}
    insert(connection, "ioc_words", rowid=seq, article=article, **words)
    for article_of in (FIRST, SECOND):
        source = article_of.source_name
        insert(connection, "ioc_sources", id=id, source_name=source, type=type, newest_first=-last_seen)
        insert(
            connection, "sightings", ioc_id=id, article_id=article_of.id, position=seq, source_name=source,
            seen_at=to_milliseconds(article_of.seen_at), counted_source="Agency", malware='["Emotet"]', context="It.",
        )  # fmt: skip


def insert_the_rest(connection: sqlite3.Connection) -> None:
    at = {n: to_milliseconds(hour(n)) for n in (0, 1, 5, 24)}
    for name, status in (("one", "queued"), ("two", "done"), ("three", "failed")):
        insert(
            connection, "submissions", id=f"submission-{name}", account_id="account-1",
            url=f"https://news.example/{name}", source_name="news.example", status=status, created_at=at[0],
            due_at=at[0], attempts=0,
        )  # fmt: skip
    insert(
        connection, "accounts", id="account-1", email="one@site.example", password_hash="hash", created_at=at[0],
        session_epoch=3,
    )  # fmt: skip
    insert(connection, "keys", account_id="account-1", slot=2, name="key", secret_hash="digest", created_at=at[1])
    insert(
        connection, "sessions", id="session-1", account_id="account-1", epoch=3, created_at=at[0], last_used_at=at[1],
        expires_at=at[24], user_agent="Mozilla",
    )  # fmt: skip
    insert(connection, "weeks", id="2026-W47", revision=1, basis="2-2", generated_at=at[5], body='{"id":"2026-W47"}')
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'feeds'").fetchone():
        return
    insert(
        connection, "feeds", id="feed-1", url=FEED.url, name="News", created_at=at[0], next_poll_at=at[1], enabled=1,
        revision=0, interval_seconds=3600, failures=0,
    )  # fmt: skip


@pytest_asyncio.fixture
async def upgraded(old_file: Path) -> SqliteStore:
    store = SqliteStore(old_file)
    await store.setup()
    return store


def as_kept(article: Article) -> Article:
    return replace(article, notes=("cut",), ioc_counts={"domain": 1, "ip": 1, "url": 1})


async def test_articles_and_indicators_are_kept(upgraded: SqliteStore) -> None:
    assert await upgraded.articles.get(FIRST.id) == as_kept(FIRST)
    assert await upgraded.articles.get(SECOND.id) == as_kept(SECOND)
    assert await upgraded.articles.texts([FIRST.id, SECOND.id]) == {FIRST.id: FIRST.text}
    assert await upgraded.articles.id_of("https://news.example/2") == SECOND.id
    page = await upgraded.articles.find(ArticleQuery(parse_search("one")))
    assert page.items == (replace(as_kept(FIRST), text=None),)
    assert await search(upgraded, "first") == await listed(upgraded)
    assert set(await listed(upgraded, source="Agency")) == {"evil.example", "192.0.2.1", "http://evil.example/x"}
    assert await search(upgraded, "evil.example", source="Agency") == ["evil.example", "http://evil.example/x"]
    found = await the_ioc(upgraded, "domain evil.example")
    assert (found.sightings, found.sources, found.malware) == (2, 1, ("Emotet",))
    await upgraded.close()


async def test_what_is_new_is_there(upgraded: SqliteStore) -> None:
    types = {"domain": 1, "ip": 1, "url": 1}
    expected = Facets(types, {"Agency": 3, "Example Blog": 3}, {"2026-W47": 3})
    assert await upgraded.iocs.facets(IocQuery()) == expected
    assert await upgraded.iocs.facets(query("first")) == expected
    seen = [one async for one in upgraded.articles.seen_between(hour(0), hour(9))]
    assert [one.malware for one in seen] == [("Emotet",)] * 6
    assert await upgraded.readings.of(FIRST.id) == ()
    assert await upgraded.catalogues.all() == ()
    assert await upgraded.votes.counts([id_of("domain evil.example")]) == {}
    await upgraded.close()


async def test_accounts_submissions_weeks_and_feeds_are_kept(upgraded: SqliteStore) -> None:
    assert await upgraded.submissions.get("submission-one") == SUBMISSION
    of_account = {one.id async for one in upgraded.submissions.all_of("account-1")}
    assert of_account == {"submission-one", "submission-three", "submission-two"}
    assert await upgraded.submissions.due(hour(0), 9) == (SUBMISSION,)
    assert await upgraded.accounts.get("account-1") == replace(ACCOUNT, role="administrator")
    assert await upgraded.accounts.keys("account-1") == (KEY,)
    assert await upgraded.accounts.sessions("account-1") == (SESSION,)
    assert await upgraded.weeks.get("2026-W47") == WEEK
    assert await upgraded.feeds.all() == (FEED,)
    assert await upgraded.articles.basis(hour(-99), hour(99)) == "2-2"
    await upgraded.close()


async def test_it_goes_on_with_what_was_there(upgraded: SqliteStore) -> None:
    again = replace(FIRST, title="Corrected", text="Short.", revision=2, ioc_dropped=4, findings={"CVE-2026-1": {}})
    saved = await publish(upgraded, again, "domain evil.example", "domain new.example")
    assert await upgraded.articles.get(FIRST.id) == saved
    assert await upgraded.articles.basis(hour(-99), hour(99)) == "2-3"
    assert await listed(upgraded, source="Agency") == ["evil.example", "new.example"]
    assert (await upgraded.articles.find(ArticleQuery(parse_search("one")))).items == ()
    found = await upgraded.articles.find(ArticleQuery(parse_search("corrected")))
    assert [one.id for one in found.items] == [FIRST.id]
    await publish(upgraded, make_article("second-life", at=3), "ip 192.0.2.1")
    assert (await the_ioc(upgraded, "ip 192.0.2.1")).sightings == 2
    before = await upgraded.iocs.find(query("evil"))
    await upgraded.reindex(lambda what, done, total: None)
    assert await upgraded.iocs.find(query("evil")) == before
    assert await upgraded.articles.get(FIRST.id) == saved
    taken = await upgraded.submissions.claim("submission-one", hour(1), hour(2))
    assert taken is not None and await upgraded.submissions.update(replace(taken, status="done"))
    assert (await upgraded.totals()).iocs == 4
    await upgraded.close()


async def test_what_was_stored_before_is_told_as_added_and_goes_on(upgraded: SqliteStore) -> None:
    found = await the_ioc(upgraded, "domain evil.example")
    assert (found.added_at, found.changed_at) == (FIRST.seen_at, SECOND.seen_at)
    follower = Follower(upgraded)
    told = await follower.catch_up(2)
    assert sorted(told) == ["added 192.0.2.1", "added evil.example", "added http://evil.example/x"]
    await upgraded.reindex(lambda what, done, total: None)
    assert await follower.catch_up() == []
    await publish(upgraded, make_article("third", at=3), "ip 192.0.2.1", "domain new.example")
    assert sorted(await follower.catch_up()) == ["added new.example", "changed 192.0.2.1"]
    await upgraded.close()


async def test_votes_and_changes_are_kept(old_file: Path) -> None:
    evil, gone = id_of("domain evil.example"), id_of("domain gone.example")
    with old_tables(old_file, 7) as connection:
        insert(
            connection, "votes", ioc_id=evil, account_id="account-1", note="Ours.", voted_at=to_milliseconds(hour(1))
        )
        insert(
            connection, "removed_iocs", id=gone, type="domain", value="gone.example", change_number=4,
            changed_at=to_milliseconds(hour(9)),
        )  # fmt: skip
        connection.execute("UPDATE newest_change SET number = 4")
    store = SqliteStore(old_file)
    await store.setup()
    assert await store.votes.of(evil) == (Vote(evil, "account-1", "Ours.", hour(1)),)
    assert (await store.iocs.get_cards([evil]))[evil].false_positives == 1
    told = await Follower(store).catch_up(2)
    assert told[-1] == "removed gone.example" and len(told) == 4
    await store.articles.remove(SECOND.id)
    assert set(await search(store, "first")) == {"evil.example", "192.0.2.1", "http://evil.example/x"}
    assert await search(store, "second") == []
    await store.close()


async def test_catalogues_are_kept_and_added_to(old_file: Path) -> None:
    with old_tables(old_file, 22) as connection:
        at = to_milliseconds(hour(1))
        insert(connection, "catalogues", name="cvss", as_of=at, imported_at=at, source="nvd.json", entries=1)
        insert(connection, "catalogue_parts", name="cvss", key="a", body=b"1")
    store = SqliteStore(old_file)
    await store.setup()
    kept = Catalogue("cvss", hour(1), hour(1), "nvd.json", 1)
    assert await store.catalogues.get("cvss") == (kept, 1)
    assert await store.catalogues.parts("cvss", ["a"]) == {"a": b"1"}
    assert await store.catalogues.put(replace(kept, entries=2), {"a": b"1", "b": b"2"}, over=1)
    assert await store.catalogues.get("cvss") == (replace(kept, entries=2), 2)
    await store.close()


async def test_several_may_open_an_old_file_at_once(old_file: Path) -> None:
    stores = [SqliteStore(old_file) for _ in range(4)]
    await asyncio.gather(*(store.setup() for store in stores))
    assert [await upgraded.articles.get(FIRST.id) for upgraded in stores] == [as_kept(FIRST)] * 4
    for store in stores:
        await store.close()


def test_every_reference_holds_after_the_upgrade(old_file: Path) -> None:
    with closing(connect(old_file, mode="rw")) as connection:
        migrate(connection, sqlite_migrations())
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


async def test_texts_are_kept_whatever_bytes_they_are(old_file: Path) -> None:
    no_text = b"no \xff text"
    with old_tables(old_file, 27) as connection:
        connection.execute("UPDATE article_texts SET text = CAST(? AS TEXT) WHERE seq = 2", (no_text,))
        connection.execute("UPDATE article_texts SET text = ? WHERE seq = 1", ("a\x00b \U0001f600",))
    store = SqliteStore(old_file)
    await store.setup()
    assert await store.articles.get(FIRST.id) == replace(as_kept(FIRST), text="a\x00b \U0001f600")
    with pytest.raises(StoreDamaged):
        await store.articles.get(SECOND.id)
    with closing(connect(old_file, mode="ro")) as connection:
        (packed,) = connection.execute("SELECT text FROM article_texts WHERE seq = 2").fetchone()
    assert zlib.decompress(packed) == no_text
    await store.close()
