"""Focus says the same as when it is counted naively, from every sighting, whatever was saved and removed before."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from intel.records import Sighting
from intel.store import Store
from intel.store.sqlite.migrations import migrate
from intel.store.sqlite.store import SqliteStore
from intel.store.subjects import OBSERVABLES
from search_mappings import sqlite_migrations
from tests.contract.store.builders import hour, make_article
from tests.intel.catalogues.importing import epss_file, put, put_kev
from tests.intel.focus.naive import naive_items
from tests.intel.focus.writing import all_items

pytestmark = pytest.mark.slow

DAY = 24.0
MILLISECOND = timedelta(milliseconds=1)
CVES = tuple(f"CVE-2024-000{n}" for n in range(1, 7))
FAMILIES = ("Emotet", "QakBot", "a family of this text")
TECHNIQUES = ("T1566", "T1566.001", "T1059", "T1190")
SOURCES = ("One", "Two", "Three", "Four", "Five")
FINDINGS = (
    {"exploitation": "in_the_wild", "quote": "It is exploited."},
    {"exploitation": "poc", "quote": "Code is about.", "cvss": {"score": 9.8, "version": "3.1", "vector": None}},
    {"cvss": {"score": 7}},
    {"exploitation": "in_the_wild", "cvss": {"score": 9.1}},
)


class World:
    """Articles that are saved, saved anew and removed at random, over seventy days and on a few clusters."""

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        self._random = random.Random(seed)
        self._names: list[str] = []

    async def change(self) -> None:
        """Save a new article, save a stored one anew, or remove one."""
        chance = self._random.random()
        if self._names and chance < 0.15:
            await self._store.articles.remove(make_article(self._names.pop(self._any(len(self._names)))).id)
        elif self._names and chance < 0.35:
            await self._save(self._random.choice(self._names))
        else:
            self._names.append(f"report-{self._any(10_000)}")
            await self._save(self._names[-1])

    async def _save(self, name: str) -> None:
        at = self._random.choice((-70, -57, -42, -29, -28, -15, -14, -13, -3, -1, 0)) * DAY + self._any(4)
        cluster = self._random.choice((None, None, None, "copies", "other copies"))
        article = make_article(name, at=at, source=self._random.choice(SOURCES), cluster=cluster, title=f"On {name}")
        findings = {cve: self._random.choice(FINDINGS) for cve in CVES if self._random.random() < 0.2}
        domain = self._random.choice((None, None, "blog.example"))
        await self._store.articles.save(
            replace(article, findings=findings, source_domain=domain, url=f"https://www.site-{self._any(5)}.example/"),
            self._sightings(),
            (),
        )

    def _sightings(self) -> list[Sighting]:
        subjects = [
            *(("cve", cve) for cve in CVES),
            *(("malware", name) for name in FAMILIES),
            *(("mitre_attack", id) for id in TECHNIQUES),
        ]
        named = [one for one in subjects if self._random.random() < 0.35]
        named += {(self._random.choice(OBSERVABLES), f"value-{self._any(40)}") for _ in range(self._any(30))}
        return [Sighting(type, value, "", self._near(), place) for place, (type, value) in enumerate(sorted(named))]

    def _near(self) -> tuple[str, ...]:
        return tuple(name for name in FAMILIES if self._random.random() < 0.4)

    def _any(self, most: int) -> int:
        return self._random.randrange(most)


async def compare(store: Store, *moments: datetime) -> int:
    """Assert that both ways say the same at some moments; return how many items they had."""
    items = 0
    for now in moments:
        expected = await naive_items(store, now)
        assert await all_items(store, now) == expected
        items += len(expected)
    return items


@pytest.mark.promise("focus.list", "focus.history")
@pytest.mark.parametrize("seed", range(2))
async def test_focus_is_what_all_sightings_say_after_any_changes(store: Store, seed: int) -> None:
    world = World(store, seed)
    await put_kev(store, hour(100), {CVES[0]: "2026-11-10", CVES[1]: "2024-01-01"})
    await put(store, "epss", hour(100), epss_file({CVES[2]: 0.6, CVES[3]: 0.2}))
    items = 0
    for moment in (hour(-1), hour(1), hour(14 * DAY)):
        for _ in range(7):
            await world.change()
        items += await compare(store, moment, moment + MILLISECOND)
    assert items > 10


@pytest.mark.parametrize("seed", range(2, 8))
async def test_focus_is_what_all_sightings_say_at_any_moment(sqlite_store: Store, seed: int) -> None:
    world, items = World(sqlite_store, seed), 0
    for _ in range(4):
        for _ in range(12):
            await world.change()
        moments = [hour(days * DAY) for days in (-30, -1, 0, 1, 14, 15, 29)]
        items += await compare(sqlite_store, *moments, *(moment + MILLISECOND for moment in moments))
    assert items > 100


async def test_a_store_of_the_schema_before_is_brought_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    await store.setup()
    world = World(store, 8)
    for _ in range(40):
        await world.change()
    await store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in ("mentions", "named_near", "newly_named", "article_observables"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX sightings_near")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("PRAGMA user_version = 8")
        migrate(connection, tuple(pair for pair in sqlite_migrations() if pair[0] == 9))
        connection.execute(f"PRAGMA user_version = {version}")
    upgraded = SqliteStore(path)
    await upgraded.setup()
    assert await compare(upgraded, *(hour(days * DAY) for days in (-30, 0, 1, 14))) > 20
    await upgraded.close()
