"""The change feed: writes come one after the other, so a number taken within one stands in the order of all changes."""

from __future__ import annotations

import json
import sqlite3

from intel.errors import InvalidQuery
from intel.query import ChangePage, ChangePosition, ChangeQuery
from intel.records import Change, ChangeEvent, Ioc
from intel.store.sqlite.rows import id_text, iocs_in_order
from intel.times import from_milliseconds


def take_numbers(connection: sqlite3.Connection, count: int, now: int) -> tuple[int, int]:
    """Take the next `count` numbers; return the first one, and the time of these changes, in milliseconds."""
    newest, at = connection.execute(_NEWEST).fetchone()
    at = max(at, now)
    connection.execute("UPDATE newest_change SET number = ?, changed_at = ?", (newest + count, at))
    return newest + 1, at


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
    seqs = [row["seq"] for row in page if row["seq"] is not None]
    iocs = dict(zip(seqs, iocs_in_order(connection, seqs), strict=True))
    items = tuple(_change(row, iocs.get(row["seq"]), after) for row in page)
    next = ChangePosition(page[-1]["change_number"], after.complete) if more else ChangePosition(newest, newest)
    return ChangePage(items, next, more)


def _change(row: sqlite3.Row, ioc: Ioc | None, after: ChangePosition) -> Change:
    at = from_milliseconds(row["changed_at"])
    if ioc is None:
        return Change("removed", at, id_text(row["id"]), row["type"], row["value"], None)
    event: ChangeEvent = "added" if row["added_number"] > after.complete else "changed"
    return Change(event, at, ioc.id, ioc.type, ioc.value, ioc)


_NEWEST = "SELECT number, changed_at FROM newest_change"
_PAGE = """
    SELECT change_number, changed_at, added_number, seq, id, type, value FROM iocs AS i
    WHERE change_number > :after
        AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
        AND (:sources IS NULL OR EXISTS (
            SELECT 1 FROM ioc_sources AS s JOIN sources AS n ON n.seq = s.source_seq
            WHERE s.ioc_seq = i.seq AND n.name IN (SELECT value FROM json_each(:sources))
        ))
    UNION ALL
    SELECT change_number, changed_at, 0, NULL, id, type, value FROM removed_iocs
    WHERE change_number > :after AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
    ORDER BY change_number LIMIT :most
"""
