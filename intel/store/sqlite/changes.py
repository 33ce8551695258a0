"""The change feed: writes come one after the other, so a number taken within one stands in the order of all changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from intel.errors import InvalidQuery
from intel.query import AddedPage, AddedPosition, ChangePage, ChangePosition, ChangeQuery
from intel.records import CHANGES_PER_MILLISECOND, Change, ChangeEvent, Ioc
from intel.store.sqlite.filtering import asked_of_each, removed_of
from intel.store.sqlite.matching import Sql
from intel.store.sqlite.rows import id_bytes, id_text, iocs_in_order, moment
from intel.times import from_milliseconds, to_milliseconds


def next_moment(connection: sqlite3.Connection, now: int) -> int:
    """Return the time of what changes next, in milliseconds: now, but later than every change before."""
    _, at = connection.execute(_NEWEST).fetchone()
    return max(int(at) + 1, now)


def take_numbers(connection: sqlite3.Connection, count: int, moment: int) -> list[tuple[int, int]]:
    """Take the next `count` numbers; return each with the time of its change, in milliseconds.

    Several takes of one transaction share the `moment` that it began with; each thousand of numbers has a millisecond
    of its own: so `Change.moment` is every change's own.
    """
    newest, at = connection.execute(_NEWEST).fetchone()
    first = max(moment - (newest + 1) // CHANGES_PER_MILLISECOND, at - newest // CHANGES_PER_MILLISECOND)
    taken = [(n, first + n // CHANGES_PER_MILLISECOND) for n in range(newest + 1, newest + count + 1)]
    connection.execute("UPDATE newest_change SET number = ?, changed_at = ?", taken[-1])
    return taken


def read_changes(connection: sqlite3.Connection, query: ChangeQuery) -> ChangePage:
    """Read one page of the feed."""
    newest, _ = connection.execute(_NEWEST).fetchone()
    after = query.after
    if after.number > newest:
        raise InvalidQuery("after", "is no position in the changes of this store; leave it out to begin anew")
    asked = _page(query)
    rows = connection.execute(asked.text, asked.parameters).fetchall()
    page, more = rows[: query.limit], len(rows) > query.limit
    seqs = [row["seq"] for row in page if row["seq"] is not None]
    iocs = dict(zip(seqs, iocs_in_order(connection, seqs), strict=True))
    items = tuple(_change(row, iocs.get(row["seq"]), after) for row in page)
    next = ChangePosition(page[-1]["change_number"], after.complete) if more else ChangePosition(newest, newest)
    return ChangePage(items, next, more)


def read_position(connection: sqlite3.Connection, time: datetime) -> ChangePosition:
    """Read how far the changes had come at a moment: as they stand in order of time, halving the numbers finds it."""
    before, (not_before, _) = 0, connection.execute(_NEWEST).fetchone()
    while before < not_before:
        middle = (before + not_before) // 2
        row = connection.execute(_NEXT, {"after": middle}).fetchone()
        if row is None or _moment(*row) > time:
            not_before = middle
        else:
            before = row["change_number"]
    return ChangePosition(before, before)


def read_changes_of(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Change]:
    """Read the newest change of each of these indicators."""
    asked = [*map(id_bytes, dict.fromkeys(ids))]
    rows = connection.execute(_OF_IDS.format(", ".join("?" * len(asked))), (*asked, *asked)).fetchall()
    seqs = [row["seq"] for row in rows if row["seq"] is not None]
    iocs = dict(zip(seqs, iocs_in_order(connection, seqs), strict=True))
    changes = [_change(row, iocs.get(row["seq"]), ChangePosition()) for row in rows]
    return {change.id: change for change in changes}


def _moment(number: int, changed_at: int) -> datetime:
    return from_milliseconds(changed_at) + timedelta(microseconds=number % CHANGES_PER_MILLISECOND)


def newest(connection: sqlite3.Connection) -> AddedPosition:
    """Return the place after everything that is there."""
    number, at = connection.execute(_NEWEST).fetchone()
    return AddedPosition(number, from_milliseconds(at))


def read_added(connection: sqlite3.Connection, after: AddedPosition, limit: int) -> AddedPage:
    """Read one page of what was added; numbers and times rise together."""
    asked = {"number": after.number, "at": to_milliseconds(after.at), "most": limit + 1}
    rows = connection.execute(_ADDED, asked).fetchall()
    page, more = rows[:limit], len(rows) > limit
    next = newest(connection)
    if more:
        next = AddedPosition(page[-1]["added_number"], from_milliseconds(page[-1]["added_at"]))
    return AddedPage(tuple(id_text(row["id"]) for row in page), next, more)


def _change(row: sqlite3.Row, ioc: Ioc | None, after: ChangePosition) -> Change:
    at, number = from_milliseconds(row["changed_at"]), row["change_number"]
    if ioc is None:
        return Change(
            "removed", at, id_text(row["id"]), row["type"], row["value"], None, number, moment(row["added_at"])
        )
    event: ChangeEvent = "added" if row["added_number"] > after.complete else "changed"
    return Change(event, at, ioc.id, ioc.type, ioc.value, ioc, number, ioc.added_at)


def _page(query: ChangeQuery) -> Sql:
    """Return the statement for one page and one change more."""
    there, removed = asked_of_each(query.filter), removed_of(query.filter)
    return Sql(
        f"""
        SELECT change_number, changed_at, added_number, seq, id, type, value, added_at
        FROM iocs AS i INDEXED BY iocs_by_change WHERE change_number > ?{there.text}
        UNION ALL
        SELECT change_number, changed_at, 0, NULL, id, type, value, added_at FROM removed_iocs
        WHERE change_number > ?{removed.text}
        ORDER BY change_number LIMIT ?
        """,
        (query.after.number, *there.parameters, query.after.number, *removed.parameters, query.limit + 1),
    )


_NEWEST = "SELECT number, changed_at FROM newest_change"
_ADDED = """
    SELECT id, added_number, added_at FROM iocs WHERE added_at >= :at AND added_number > :number
    ORDER BY added_at, added_number LIMIT :most
"""
_NEXT = """
    SELECT change_number, changed_at FROM iocs WHERE change_number > :after
    UNION ALL
    SELECT change_number, changed_at FROM removed_iocs WHERE change_number > :after
    ORDER BY change_number LIMIT 1
"""
_OF_IDS = """
    SELECT change_number, changed_at, 0 AS added_number, seq, id, type, value, added_at FROM iocs
    WHERE id IN ({0})
    UNION ALL
    SELECT change_number, changed_at, 0, NULL, id, type, value, added_at FROM removed_iocs
    WHERE id IN ({0})
"""
