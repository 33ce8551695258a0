"""In which order indicators that are saved together stand in the file."""

from __future__ import annotations

from intel.ids import ioc_id_bytes
from intel.store.port import Entry
from intel.store.sqlite.connection import Database
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import make_article, publish, seen


async def test_new_indicators_of_a_step_stand_in_the_order_of_the_indexes_and_behind_older_ones(
    store: SqliteStore, database: Database
) -> None:
    await publish(store, make_article("old", at=5), "url https://old.example/", "ip 198.51.100.1")
    named = [(type, f"{type}-{number}.example") for number in range(20) for type in ("url", "domain", "email")]
    step = [
        Entry(make_article(f"new-{n}", at=3 - n), seen("ip 198.51.100.1", *(f"{t} {v}" for t, v in named[n::2])))
        for n in range(2)
    ]
    await store.articles.save_many(step)
    rows = await database.read(lambda c: c.execute("SELECT type, id FROM iocs ORDER BY seq").fetchall())
    stored = [tuple(row) for row in rows]
    assert stored[2:] == sorted((type, ioc_id_bytes(type, value)) for type, value in named)
    assert {type for type, _ in stored[:2]} == {"ip", "url"}
