"""The trust of sources: a row for each that is not trusted as usual."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from intel.confidence import USUAL_TRUST
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import id_bytes, id_text


class SqliteTrusts:
    """`intel.store.port.Trusts` of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set(self, source: str, trust: int) -> int:
        def work(connection: sqlite3.Connection) -> int:
            row = connection.execute("SELECT trust FROM source_trust WHERE source = ?", (source,)).fetchone()
            connection.execute("DELETE FROM source_trust WHERE source = ?", (source,))
            if trust != USUAL_TRUST:
                connection.execute("INSERT INTO source_trust (source, trust) VALUES (?, ?)", (source, trust))
            return int(row["trust"]) if row else USUAL_TRUST

        return await self._database.write(work)

    async def all(self) -> dict[str, int]:
        sql = "SELECT source, trust FROM source_trust ORDER BY source"
        return await self._database.read_at_once(lambda connection: dict(map(tuple, connection.execute(sql))))

    async def best_of(self, ids: Sequence[str]) -> dict[str, int]:
        if not ids or not await self._database.read_unless_kept(_has_any, _has_any):
            return {}
        sql = _BEST.format(", ".join("?" * len(ids)))
        asked = (USUAL_TRUST, *map(id_bytes, ids), USUAL_TRUST)
        rows = await self._database.read(lambda connection: connection.execute(sql, asked).fetchall())
        return {id_text(row["id"]): int(row["best"]) for row in rows}


def _has_any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM source_trust LIMIT 1").fetchone() is not None


# CROSS JOIN keeps the engine from beginning with the larger table.
_BEST = """
    SELECT i.id, max(coalesce(t.trust, ?)) AS best
    FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_seq = i.seq CROSS JOIN articles AS a ON a.seq = s.article_seq
    LEFT JOIN source_trust AS t ON t.source = a.counted_source
    WHERE i.id IN ({}) GROUP BY i.seq HAVING best <> ?
"""
