"""All that a store holds goes into another one, on any engine, and is the same there record for record."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from intel.audit import AuditEntry
from intel.notes import Note
from intel.query import ArticleQuery, ChangePosition, ChangeQuery, IocQuery
from intel.records import (
    Account,
    ApiKey,
    Catalogue,
    Feed,
    HandedFile,
    Reading,
    Session,
    Sighting,
    Vote,
    Week,
)
from intel.saved_searches import Delivery, SavedSearch
from intel.store import copying
from intel.store.copying import PARTS, copy_all, is_empty
from intel.store.elastic import copier as elastic_copier
from intel.store.port import Store
from intel.store.sqlite import copier as sqlite_copier
from intel.store.sqlite.store import SqliteStore
from search_mappings import elasticsearch_indices
from tests.contract.store.builders import hour, id_of, listed, make_article, make_submission, publish, search, the_ioc
from tests.contract.store.conftest import open_elasticsearch, open_sqlite
from tests.contract.store.test_feedback import make_feedback


def silent(what: str, done: int, total: int) -> None:
    """A progress that nobody watches."""


async def fill(store: Store) -> None:
    """One record or more of everything that there is."""
    near = Sighting("domain", "evil.example", "It spoke to evil[.]example.", ("Emotet",), 0)
    amber = replace(make_article("a", source="A"), tlp="amber")
    await publish(store, amber, near, "ip 192.0.2.1", "cve CVE-2026-1000", "malware Emotet")
    await publish(store, make_article("b", at=5, source="B", cluster="cluster-a"), "domain evil.example")
    await publish(store, make_article("gone", at=6), "domain gone.example")
    claimed = make_article("c", at=7, title="Zwei «Käfer»", summary="Käfer")
    await store.articles.save(claimed, [], ["https://news.example/a", "https://news.example/c"])
    assert await store.articles.remove(make_article("gone").id)
    await _fill_accounts(store)
    await store.submissions.add(replace(make_submission(), tlp="green"))
    search = SavedSearch(
        "search-1", "account-1", "evil", hour(2), "whsec_", "t", hour(3), hour(3), hour(4), filters={"type": ["ip"]}
    )
    await store.searches.add(replace(search, outbox={"channel": "webhook"}), 9)
    delivery = Delivery("a", "search-1", "account-1", "webhook", "{}", "pending", hour(2), hour(2), hour(2))
    await store.deliveries.put(replace(delivery, attempts=2, last_status=500))
    await store.files.put(HandedFile("file-1", "account-1", "submission-1", 3, hour(2)), b"\x00\xff1")
    await store.submissions.add(
        replace(make_submission("two"), status="failed", reason="http_403", finished_at=hour(3))
    )
    body = {"counts": {"articles": 2}, "note": None}
    await store.weeks.add(Week("2026-W47", 1, "basis", hour(20), body))
    await store.weeks.add(Week("2026-W47", 2, "other", hour(30), body))
    await store.feeds.add(Feed("feed-1", "https://feed.example/rss", "A", hour(0), hour(1), etag='"x"', failures=2))
    await store.audit.add(AuditEntry("0001-a", hour(3), "a1@example.org", "account.role", "a2@example.org", "reader"))
    await store.domains.block("bad.example", hour(4))
    await store.catalogues.put(
        Catalogue("kev", hour(1), hour(2), "kev.json", 2), {"a:b": b"\x00one", "c": b"two" * 999}
    )
    await store.votes.put(Vote(id_of("domain evil.example"), "account-1", "ours", hour(8)))
    await store.votes.put(Vote(id_of("domain evil.example"), "account-2", "", hour(9)))
    await store.tags.change("ioc", id_of("domain evil.example"), ["c2", "äö:x=1"])
    await store.tags.change("article", make_article("b").id, ["campaign"])
    for kind, id in (("ioc", id_of("domain evil.example")), ("article", make_article("b").id)):
        assert await store.notes.add(Note(f"note-{kind}", kind, id, "account-1", "Ours.\nü", hour(9)))  # type: ignore[arg-type]  # one of both kinds
    await store.trusts.set("A", 80)
    await store.feedback.put(make_feedback("account-1"))
    candidate = {"type": "domain", "value": "evil.example", "kept": True, "score": 3}
    said = (("domain", "evil.example"),)
    await store.readings.put(Reading(make_article("a").id, 1, hour(1000), "t", said, "text", (candidate,)))


async def _fill_accounts(store: Store) -> None:
    for number in (1, 2):
        account = Account(f"account-{number}", f"a{number}@example.org", "hash", hour(number), session_epoch=number)
        await store.accounts.create(account)
        key = ApiKey(account.id, 2, "k", f"secret-{number}", hour(3), last_used_at=hour(4))
        assert await store.accounts.add_key(key)
    assert await store.accounts.revoke_key("account-2", 2, "secret-2", hour(5))
    await store.accounts.put_session(Session("s", "account-1", 1, hour(1), hour(2), hour(90), "Browser"))


async def all_records(store: Store) -> dict[str, list[Any]]:
    """Every record of every part, in an order of its own."""
    async with store.copier.state() as state:
        return {part.name: sorted([one async for one in state.of(part.name)], key=repr) for part in PARTS}


async def changes_of(store: Store, after: ChangePosition) -> tuple[list[tuple[str, str]], ChangePosition]:
    page = await store.iocs.changes(ChangeQuery(after=after, limit=100))
    return [(one.event, one.value) for one in page.items], page.next


async def answers(store: Store) -> list[Any]:
    """What people see: lists with totals, a search, an indicator with its places, articles, votes."""
    evil = await the_ioc(store, "domain evil.example")
    return [
        await listed(store),
        await search(store, "evil"),
        await search(store, "käfer"),
        (evil, evil.added_at, evil.changed_at),
        await store.iocs.facets(IocQuery()),
        await store.iocs.mentions_of(evil.id, 10),
        await store.articles.find(ArticleQuery(limit=10)),
        [one.annotated_at for one in (await store.articles.find(ArticleQuery(limit=10))).items],
        await store.articles.find(ArticleQuery(limit=10, tags=("campaign",))),
        await listed(store, tags=("äö:x=1",)),
        await listed(store, tlps=("amber",)),
        await store.articles.find(ArticleQuery(limit=10, tlps=("amber",))),
        (await store.trusts.all(), await store.trusts.best_of([evil.id])),
        await store.articles.id_of("https://news.example/a"),
        await store.votes.counts([evil.id]),
        await store.notes.of([evil.id, make_article("b").id]),
        [one async for one in store.feedback.all()],
        (await store.iocs.find_cards(IocQuery(limit=50))).items,
        await store.totals(),
    ]


@pytest_asyncio.fixture(params=("sqlite", "elasticsearch"))
async def target(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "sqlite":
        opened: Store = open_sqlite(tmp_path / "target")()
    else:
        url, prefix = (request.getfixturevalue(name) for name in ("elasticsearch_url", "unmade_prefix"))
        opened = open_elasticsearch(url, prefix)()
    await opened.setup()
    yield opened
    await opened.close()


@pytest.mark.promise("operations.migrate")
async def test_a_copied_store_is_the_same_record_for_record(store: Store, target: Store) -> None:
    assert await is_empty(target.copier)
    await fill(store)
    await target.marks.settle("some lists")
    _, followed = await changes_of(store, ChangePosition())
    await publish(store, make_article("late", at=9), "domain late.example")
    before = await all_records(store)
    assert [part for part, records in before.items() if not records] == []
    async with store.copier.state() as state:
        await publish(store, make_article("after", at=10), "domain after.example")
        counts = await copy_all(state, target.copier, silent)
    assert counts == {part: len(records) for part, records in before.items()}
    assert await store.articles.remove(make_article("after").id)
    await changes_of(target, ChangePosition())
    assert without_numbers(await all_records(target)) == without_numbers(before)
    assert await target.marks.basis() == ""
    assert await answers(target) == await answers(store)
    assert await changes_of(target, followed) == ([("added", "late.example")], (await changes_of(target, followed))[1])
    await publish(target, make_article("new", at=11), "domain new.example")
    assert ("added", "new.example") in (await changes_of(target, followed))[0]


def without_numbers(records: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The records without the newest number, which may pass over some, and those that were not read yet."""
    changes = [replace(one, number=0, added_number=0) for one in records["changes"] if one.value != "late.example"]
    return {**records, "ledger": [], "changes": sorted(changes, key=repr)}


def test_no_member_of_the_store_is_forgotten() -> None:
    members = {name for name, kind in vars(Store).items() if isinstance(kind, property)} - {"copier"}
    assert members == {part.member for part in PARTS} | copying.DERIVED_MEMBERS


async def test_no_table_is_forgotten(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "ioc.sqlite3")
    await store.setup()
    await store.close()
    with closing(sqlite3.connect(tmp_path / "ioc.sqlite3")) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    own = {name for name in tables if not re.fullmatch(r"sqlite_.*|\w+_words_(data|idx|config|docsize|content)", name)}
    copied = {table.name for table in sqlite_copier.TABLES.values()} | {"articles", "addresses"}
    assert own - copied - sqlite_copier.DERIVED_TABLES == set()


def test_no_index_is_forgotten() -> None:
    assert set(elasticsearch_indices()) == elastic_copier.NOUNS | elastic_copier.DERIVED_NOUNS
    for table in (sqlite_copier.READERS, elastic_copier.KEPT):
        assert set(table) <= {part.name for part in PARTS}
    assert set(sqlite_copier.READERS) == {part.name for part in PARTS}
