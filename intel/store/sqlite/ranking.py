"""Pages of searches, in order of rank: class, then most sources, newest, id.

What matches little is sorted. Of what matches much, indexes in the order of a class are walked until the page is full;
where that takes longer than sorting would, because what matches lies far down, it is sorted after all.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from intel.query import IocQuery, SearchText
from intel.store.sqlite.finding import in_value, ioc_search, matching_seqs
from intel.store.sqlite.matching import ANYWHERE, Sql, matching_iocs, of_ids
from intel.store.sqlite.rows import id_bytes

Rows = list[sqlite3.Row]
Asked = dict[str, int | bytes]

# As many matches are sorted in about a millisecond.
_FEW = 1_000
# How far a walk goes: some milliseconds.
_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class _Rank:
    """Where a page begins: after this class, number of sources (negated), time (negated) and id."""

    class_: int
    fewest_last: int
    newest_first: int
    id: bytes


_TOP = _Rank(0, -(2**62), -(2**62), b"")


def ranked(connection: sqlite3.Connection, query: IocQuery, text: SearchText) -> tuple[Rows, int | None]:
    """Return one page and one record more, as `finding.ioc_search` selects them, and the total of a first page."""
    few = _count_up_to(connection, query, _FEW + 1)
    if few <= _FEW:
        return _all(connection, ioc_search(query, text)), few if query.after is None else None
    total = _match(connection, query, text)
    rows: Rows = []
    for class_ in (0, 1, 2):
        rows += _of_class(connection, class_, _start(query), query.limit + 1 - len(rows))
    return rows, total if query.after is None else None


def _count_up_to(connection: sqlite3.Connection, query: IocQuery, most: int) -> int:
    found = matching_seqs(query)
    return _count(
        connection, Sql(f"SELECT count(*) FROM (SELECT seq FROM ({found.text}) LIMIT {most})", found.parameters)
    )


def _match(connection: sqlite3.Connection, query: IocQuery, text: SearchText) -> int:
    """Note what matches, with its class, in a temporary table; return how many there are."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS ranked (seq INTEGER PRIMARY KEY, class INTEGER)")
    connection.execute("DELETE FROM ranked")
    found, class_ = matching_seqs(query), _class(connection, text)
    sql = f"INSERT INTO ranked (seq, class) SELECT seq, {class_.text} FROM ({found.text})"
    total = connection.execute(sql, (*class_.parameters, *found.parameters)).rowcount
    if text.exact_ids:
        exact = of_ids(text.exact_ids)
        connection.execute(f"UPDATE ranked SET class = 0 WHERE seq IN ({exact.text})", exact.parameters)
    return total


def _class(connection: sqlite3.Connection, text: SearchText) -> Sql:
    """Return the class of a match; mostly it is the same for all, which two counts tell."""
    value = in_value(text)
    anywhere = matching_iocs(text.clauses, ANYWHERE)
    counted = [
        _count(connection, Sql(f"SELECT count(*) FROM ({one.text})", one.parameters)) for one in (value, anywhere)
    ]
    if counted[0] in (0, counted[1]):
        return Sql("1" if counted[0] else "2")
    return Sql(f"CASE WHEN seq IN ({value.text}) THEN 1 ELSE 2 END", value.parameters)


def _start(query: IocQuery) -> _Rank:
    if query.after is None:
        return _TOP
    class_, sources, newest, id = query.after.values
    return _Rank(int(class_), -int(sources), -int(newest), id_bytes(str(id)))


def _of_class(connection: sqlite3.Connection, class_: int, start: _Rank, most: int) -> Rows:
    """Return the first `most` of a class that stand after the start."""
    if most <= 0 or start.class_ > class_:
        return []
    start = start if start.class_ == class_ else _TOP
    (count,) = connection.execute("SELECT count(*) FROM ranked WHERE class = ?", (class_,)).fetchone()
    asked = {
        "class": class_, "fewest_last": start.fewest_last, "newest_first": start.newest_first, "id": start.id,
        "most": most, "count": count,
    }  # fmt: skip
    rows = _walked(connection, asked) if count > _FEW else None
    return connection.execute(_SORTED, asked).fetchall() if rows is None else rows


def _walked(connection: sqlite3.Connection, asked: Asked) -> Rows | None:
    """Return the rows that a walk finds; None where it would go far without filling the page."""
    rows: Rows = []
    if int(asked["fewest_last"]) < -1:
        if _is_there(connection, _BEYOND_MANY, asked):
            return None
        rows = connection.execute(_OF_MANY, asked).fetchall()
        asked = {**asked, "newest_first": _TOP.newest_first, "id": _TOP.id}
    if len(rows) == asked["most"]:
        return rows
    end = connection.execute(_END, {**asked, "steps": _STEPS}).fetchone()
    bounds = {"last": end["newest_first"], "last_id": end["id"]} if end else {"last": 2**62, "last_id": b""}
    rows += connection.execute(_OF_ONE, {**asked, **bounds, "most": int(asked["most"]) - len(rows)}).fetchall()
    return None if end and len(rows) < int(asked["most"]) else rows


def _is_there(connection: sqlite3.Connection, sql: str, asked: Asked) -> bool:
    return connection.execute(sql, asked).fetchone() is not None


def _all(connection: sqlite3.Connection, statement: Sql) -> Rows:
    return connection.execute(statement.text, statement.parameters).fetchall()


def _count(connection: sqlite3.Connection, statement: Sql) -> int:
    (counted,) = connection.execute(statement.text, statement.parameters).fetchone()
    return int(counted)


_AFTER = "(-sources, newest_first, id) > (:fewest_last, :newest_first, :id)"
_SORTED = f"""
    SELECT seq, :class AS class, -sources AS fewest_last, newest_first, id FROM ranked CROSS JOIN iocs USING (seq)
    WHERE class = :class AND {_AFTER} ORDER BY fewest_last, newest_first, id LIMIT :most
"""
# What several sources name has an index of its own; what one names stands in the order of all indicators.
_OF_MANY = f"""
    SELECT seq, :class AS class, -sources AS fewest_last, newest_first, id
    FROM iocs INDEXED BY iocs_of_many_sources CROSS JOIN ranked USING (seq)
    WHERE sources > 1 AND sources <= -:fewest_last AND {_AFTER} AND ranked.class = :class
    ORDER BY sources DESC, newest_first, id LIMIT :most
"""
_BEYOND_MANY = "SELECT 1 FROM iocs INDEXED BY iocs_of_many_sources WHERE sources > 1 LIMIT 1 OFFSET :count"
_OF_ONE = """
    SELECT step.seq, :class AS class, -1 AS fewest_last, step.newest_first, step.id
    FROM iocs AS step INDEXED BY iocs_newest CROSS JOIN ranked ON ranked.seq = step.seq
    CROSS JOIN iocs AS named ON named.seq = step.seq
    WHERE (step.newest_first, step.id) > (:newest_first, :id) AND (step.newest_first, step.id) <= (:last, :last_id)
        AND ranked.class = :class AND named.sources = 1
    ORDER BY step.newest_first, step.id LIMIT :most
"""
_END = """
    SELECT newest_first, id FROM iocs INDEXED BY iocs_newest WHERE (newest_first, id) > (:newest_first, :id)
    ORDER BY newest_first, id LIMIT 1 OFFSET :steps
"""
