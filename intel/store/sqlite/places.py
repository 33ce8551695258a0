"""What comes after the place where a page ended, as conditions of statements."""

from __future__ import annotations

from collections.abc import Callable

from intel.query import Position, Sort
from intel.store.sqlite.matching import Sql
from intel.store.sqlite.rows import id_bytes


def after(after: Position, order: Sort) -> Sql:
    """Return what comes after a place in an order."""
    *values, id = after.values
    stored = id_bytes(str(id))
    if order == "last_seen":
        return Sql("(newest_first, id) > (?, ?)", (-int(values[0]), stored))
    if order == "sources":
        place = (-int(values[0]), -int(values[1]), stored)
        return Sql("(fewest_last, newest_first, id) > (?, ?, ?)", place)
    return Sql(f"{order} <= ? AND ({order} < ? OR id > ?)", (int(values[0]), int(values[0]), stored))


def after_newest(after: Position, stored: Callable[[str], str | bytes]) -> Sql:
    """Return what comes after a place in the order of time; `stored` turns an id into what the table holds."""
    newest, id = after.values
    return Sql("(newest_first, id) > (?, ?)", (-int(newest), stored(str(id))))


def after_rank(after: Position | None) -> Sql:
    """Return what comes after a place in the order of a search, as the last part of a statement."""
    if after is None:
        return Sql("")
    class_, sources, newest, id = after.values
    position = (class_, -int(sources), -int(newest), id_bytes(str(id)))
    return Sql(" WHERE (class, fewest_last, newest_first, id) > (?, ?, ?, ?)", position)
