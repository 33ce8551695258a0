"""What very many articles name comes to the same whether or not all of its sightings are read when one more does."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from intel.records import NEWEST_ARTICLES, Sighting
from intel.store.port import Entry
from intel.store.sqlite import deriving, subjects
from intel.store.sqlite.connection import Database
from intel.store.sqlite.seen import Kept, Seen, Sighted, Sightings
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import hour, make_article
from tests.stores import lay_store

_ARTICLES = 3 * NEWEST_ARTICLES
_HOURS_OF_WEEKS = 24 * 7 * 5
_SHARED = (("domain", "evil.example"), ("ip", "203.0.113.7"), ("mitre_attack", "T1059"), ("malware", "Emotet"))
_TABLES = (
    "iocs ioc_sources source_lists ioc_counts source_counts source_weeks week_iocs week_counts malware_lists"
    " malware_names mentions article_observables named_near newly_named"
)


def entries() -> list[Entry]:
    """Return articles of some weeks, in no order, of few sources, some of them copies of one that was written before or
    after them; all name the same, near malware of their own.
    """
    drawn = random.Random(7)
    made = []
    for number in range(_ARTICLES):
        cluster = f"cluster-{number if number % 6 else number % 18}"
        article = make_article(
            f"a{number}", at=drawn.randrange(_HOURS_OF_WEEKS), source=f"Blog {drawn.randrange(7)}", cluster=cluster
        )
        article = replace(article, title=f"Report {number}", tlp="green" if number == 50 else None)
        shared = [one for one in _SHARED if drawn.random() < 0.9]
        names = (f"Malware{number % 4}",) if number % 3 else ()
        seen = [
            Sighting(type, value, f"In {number}: {value}.", names, position)
            for position, (type, value) in enumerate([*shared, ("domain", f"own-{number}.example")])
        ]
        made.append(Entry(article, tuple(seen), (article.url or "",)))
    return made


async def tables(folder: Path, *, removed: bool) -> dict[str, list[str]]:
    """Save the articles in steps of several sizes, and return all that is derived from them."""
    path = lay_store(folder / "store.db")
    store, database = SqliteStore(path, clock=lambda: hour(5_000)), Database(path)

    def read(connection: sqlite3.Connection) -> dict[str, list[str]]:
        asked = {table: f"SELECT * FROM {table}" for table in _TABLES.split()}  # noqa: S608 - names above
        asked["words"] = "SELECT rowid FROM ioc_words WHERE article MATCH 'report'"
        return {name: sorted(repr(tuple(row)) for row in connection.execute(sql)) for name, sql in asked.items()}

    try:
        await store.setup()
        waiting, size = entries(), 1
        while waiting:
            await store.articles.save_many(waiting[:size])
            waiting, size = waiting[size:], size % 5 + 1
            if removed and len(waiting) == 9:
                await store.articles.remove(entries()[3].article.id)
        return await database.read(read)
    finally:
        await store.close()
        await database.close()


@pytest.mark.parametrize("removed", [False, True])
async def test_one_more_article_changes_what_reading_all_sightings_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, removed: bool
) -> None:
    asked: list[int] = []
    plainly = Sightings.with_more

    def with_more(self: Sightings, seq: int, kept: Kept, more: Sequence[Sighted]) -> Seen:
        asked.append(seq)
        return plainly(self, seq, kept, more)

    monkeypatch.setattr(Sightings, "with_more", with_more)
    few_read = await tables(tmp_path / "few", removed=removed)
    assert asked
    monkeypatch.setattr(deriving, "_FEW", 10**9)
    monkeypatch.setattr(subjects, "name_more", subjects.derive_named)
    all_read = await tables(tmp_path / "all", removed=removed)
    assert few_read == all_read
