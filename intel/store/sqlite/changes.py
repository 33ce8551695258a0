"""The change feed: writes come one after the other, so a number taken within one stands in the order of all changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from intel.errors import InvalidQuery
from intel.query import ChangePage, ChangePosition, ChangeQuery
from intel.records import Change, ChangeEvent, Ioc
from intel.store.sqlite.rows import iocs_by_id
from intel.times import from_milliseconds, to_milliseconds

# What an indicator says, as one text; NULL where there is none. `i` is the indicator, `a` its article.
CONTENT = """
    CASE WHEN i.id IS NOT NULL THEN json_array(
        i.first_seen, i.last_seen, i.sightings, i.sources, i.context, i.malware,
        a.id, a.title, a.url, a.source_name, a.source_domain, a.published_at, a.seen_at
    ) END
"""


def number_changes(connection: sqlite3.Connection, removed: Sequence[sqlite3.Row], now: datetime) -> None:
    """Give the next numbers, by id, to what says something else than was noted in the table `changed`."""
    newest, at = connection.execute(_NEWEST).fetchone()
    at = max(at, to_milliseconds(now))
    gone = {row["id"]: row for row in removed}
    different = connection.execute(_DIFFERENT).fetchall()
    connection.execute("UPDATE newest_change SET number = ?, changed_at = ?", (newest + len(different), at))
    numbers = {row["id"]: number for number, row in enumerate(different, start=newest + 1)}
    marks = ((id, row["type"], row["value"], at, numbers[id]) for id, row in gone.items())
    connection.executemany(_REMOVED, marks)
    added = [(at, at, numbers[row["id"]], numbers[row["id"]], row["id"]) for row in different if row["is_new"]]
    connection.executemany(_ADDED, added)
    connection.executemany("DELETE FROM removed_iocs WHERE id = ?", ((id,) for *_, id in added))
    kept = (row["id"] for row in different if not row["is_new"] and row["id"] not in gone)
    connection.executemany(_CHANGED, ((at, numbers[id], id) for id in kept))


def read_changes(connection: sqlite3.Connection, query: ChangeQuery) -> ChangePage:
    """Read one page of the feed."""
    newest, _ = connection.execute(_NEWEST).fetchone()
    after = query.after
    if after.number > newest:
        raise InvalidQuery("after", "is no position in the changes of this store; leave it out to begin anew")
    asked = {
        "after": after.number,
        "types": json.dumps(query.types) if query.types else None,
        "sources": json.dumps(query.sources) if query.sources else None,
        "most": query.limit + 1,
    }
    rows = connection.execute(_PAGE, asked).fetchall()
    page, more = rows[: query.limit], len(rows) > query.limit
    iocs = iocs_by_id(connection, [row["id"] for row in page])
    items = tuple(_change(row, iocs.get(row["id"]), after) for row in page)
    next = ChangePosition(page[-1]["change_number"], after.complete) if more else ChangePosition(newest, newest)
    return ChangePage(items, next, more)


def _change(row: sqlite3.Row, ioc: Ioc | None, after: ChangePosition) -> Change:
    at = from_milliseconds(row["changed_at"])
    if ioc is None:
        return Change("removed", at, row["id"], row["type"], row["value"], None)
    event: ChangeEvent = "added" if row["added_number"] > after.complete else "changed"
    return Change(event, at, ioc.id, ioc.type, ioc.value, ioc)


_NEWEST = "SELECT number, changed_at FROM newest_change"
_DIFFERENT = f"""
    SELECT c.id, c.before IS NULL AS is_new
    FROM changed AS c LEFT JOIN iocs AS i ON i.id = c.id LEFT JOIN articles AS a ON a.id = i.article_id
    WHERE c.before IS NOT {CONTENT} ORDER BY c.id
"""
_ADDED = "UPDATE iocs SET added_at = ?, changed_at = ?, added_number = ?, change_number = ? WHERE id = ?"
_CHANGED = "UPDATE iocs SET changed_at = ?, change_number = ? WHERE id = ?"
_REMOVED = "REPLACE INTO removed_iocs (id, type, value, changed_at, change_number) VALUES (?, ?, ?, ?, ?)"
_PAGE = """
    SELECT change_number, changed_at, added_number, id, type, value FROM iocs AS i
    WHERE change_number > :after
        AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
        AND (:sources IS NULL OR EXISTS (
            SELECT 1 FROM ioc_sources AS s
            WHERE s.seq = i.seq AND s.source_name IN (SELECT value FROM json_each(:sources))
        ))
    UNION ALL
    SELECT change_number, changed_at, 0, id, type, value FROM removed_iocs
    WHERE change_number > :after AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
    ORDER BY change_number LIMIT :most
"""
