"""Rebuilding repairs everything that is derived."""

from __future__ import annotations

import pytest

from intel.store.sqlite.connection import Database
from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import listed, make_article, publish, search, the_ioc

DAMAGE = (
    "DELETE FROM ioc_words",
    "UPDATE ioc_words SET value = 'wrong', host = '', article = 'wrong'",
    "DELETE FROM article_words",
    "INSERT INTO ioc_words (rowid, value) VALUES (4711, 'stray')",
    "DELETE FROM ioc_sources",
    "UPDATE iocs SET ip = NULL",
    "UPDATE iocs SET sightings = 99, sources = 99, last_seen = 0, context = 'wrong', malware = '[\"wrong\"]'",
    "UPDATE ioc_totals SET iocs = 99",
    "UPDATE sightings SET counted_source = 'wrong'",
    "INSERT INTO iocs SELECT 99, 'x', 'ip', 'x', 0, 0, 1, 1, NULL, article_id, '[]', '', 0, 0, 0, 0 FROM iocs LIMIT 1",
)


@pytest.mark.parametrize("damage", DAMAGE)
async def test_rebuilding_repairs_what_is_derived(store: SqliteStore, database: Database, damage: str) -> None:
    await publish(store, make_article("a", at=1, source="A", cluster="one"), "domain evil.example", "ip 192.0.2.1")
    await publish(store, make_article("b", at=2, source="B", cluster="one"), "domain evil.example")
    before = await the_ioc(store, "domain evil.example")
    await database.write(lambda connection: connection.execute(damage).rowcount)
    await store.reindex(lambda what, done, total: None)
    assert await the_ioc(store, "domain evil.example") == before
    assert await listed(store) == ["evil.example", "192.0.2.1"]
    assert await listed(store, source="B") == ["evil.example"]
    assert await search(store, "evil.example") == ["evil.example"]
    assert await search(store, "192.0.2.0/24") == ["192.0.2.1"]
    assert await search(store, "loader") == ["evil.example", "192.0.2.1"]
    assert await search(store, "wrong") == await search(store, "stray") == []
    assert (await store.totals()).iocs == 2
