"""Pages of searches, in order of rank: class, then most sources, newest, id.

What matches little is sorted. Of what matches much, indexes in the order of a class are walked until the page is full;
where that takes longer than sorting would, because what matches lies far down, it is sorted after all. Words that every
indicator has, as a title that all articles share, need no set of what matches: with filters they are a list by sources.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace

from intel.query import IocQuery, Position, SearchText
from intel.store.sqlite.finding import (
    in_value,
    ioc_list_total,
    ioc_search,
    ioc_sorted,
    ioc_walk,
    is_unfiltered,
    matching_seqs,
)
from intel.store.sqlite.matching import ANYWHERE, IN_VALUE, Sql, matching_iocs, of_ids
from intel.store.sqlite.rows import id_bytes

Rows = list[sqlite3.Row]
Asked = dict[str, int | bytes]

# Up to so many matches are sorted, which takes a third of a microsecond each; of more, a walk finds the first ones.
_FEW = 20_000
# How far a walk goes: some milliseconds.
_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class _Rank:
    """Where a page begins: after this class, number of sources (negated), time (negated) and id."""

    class_: int
    fewest_last: int
    newest_first: int
    id: bytes


_ANY = 2**62
_TOP = _Rank(0, -(2**62), -(2**62), b"")


@dataclass(frozen=True, slots=True)
class _Matches:
    """What a search matches: the table of `seq` and class, and how many there are of each class.

    `most` is the class of all but exact values, where that is one.
    """

    table: str
    counts: tuple[int, int, int]
    most: int = 0


def ranked(connection: sqlite3.Connection, query: IocQuery, text: SearchText) -> tuple[Rows, int | None]:
    """Return one page and one record more, as `finding.ioc_search` selects them, and the total of a first page."""
    if query.ids is None and not is_unfiltered(query) and (most := _class_of_everything(connection, text)):
        return _listed(connection, query, text, most)
    few = _count_up_to(connection, query, _FEW + 1)
    if few <= _FEW:
        return _all(connection, ioc_search(query, text)), few if query.after is None else None
    matches = _matches(connection, query, text)
    rows: Rows = []
    for class_ in (0, 1, 2):
        rows += _of_class(connection, matches, class_, _start(query), query.limit + 1 - len(rows))
    return rows, sum(matches.counts) if query.after is None else None


def matches_everything(connection: sqlite3.Connection, text: SearchText) -> bool:
    """Tell whether the words of a search are found in every indicator there is."""
    return _count_in(connection, ANYWHERE, text) == _count(connection, _EVERYTHING)


def _class_of_everything(connection: sqlite3.Connection, text: SearchText) -> int:
    """Return the class of all but exact values where the words of a search are in every indicator; 0 where not."""
    everything = _count(connection, _EVERYTHING)
    if _count_in(connection, ANYWHERE, text) < everything:
        return 0
    return {0: 2, everything: 1}.get(_count_in(connection, IN_VALUE, text), 0)


def _listed(connection: sqlite3.Connection, query: IocQuery, text: SearchText, most: int) -> tuple[Rows, int | None]:
    """Return a page and the total of what every indicator has: those of a list by sources, exact values first."""
    whole = replace(query, text=None, sort="sources", after=None)
    total = _count(connection, ioc_list_total(whole)) if query.after is None else None
    begun = -1 if query.after is None else int(query.after.values[0])
    after = None if query.after is None else Position(query.after.values[1:])
    if begun > most:  # the store has changed since the last page
        return [], total
    rows: Rows = []
    if begun <= 0 and text.exact_ids:
        rows = _all(connection, _in_class(ioc_sorted(replace(whole, ids=text.exact_ids, after=after)), 0))
    exact = {seq for (seq,) in _all(connection, of_ids(text.exact_ids))}
    rest = replace(whole, limit=query.limit + len(exact), after=after if begun == most else None)
    is_short = (_count_up_to(connection, whole, _FEW + 1) if total is None else total) <= _FEW
    found = _all(connection, _in_class(ioc_sorted(rest) if is_short else ioc_walk(rest), most))
    return [*rows, *(row for row in found if row["seq"] not in exact)][: query.limit + 1], total


def _in_class(page: Sql, class_: int) -> Sql:
    """Return a page by sources as one of a search, all of that class."""
    columns = f"seq, {class_} AS class, fewest_last, newest_first, id"
    return Sql(f"SELECT {columns} FROM ({page.text}) ORDER BY fewest_last, newest_first, id", page.parameters)


def _count_up_to(connection: sqlite3.Connection, query: IocQuery, most: int) -> int:
    found = matching_seqs(query)
    return _count(
        connection, Sql(f"SELECT count(*) FROM (SELECT seq FROM ({found.text}) LIMIT {most})", found.parameters)
    )


def _matches(connection: sqlite3.Connection, query: IocQuery, text: SearchText) -> _Matches:
    """Note what matches, with its class, in a temporary table; where that is all there is, only the exact values."""
    value, anywhere = _count_in(connection, IN_VALUE, text), _count_in(connection, ANYWHERE, text)
    most = {0: 2, anywhere: 1}.get(value, 0)
    if most and is_unfiltered(query) and anywhere == _count(connection, _EVERYTHING):
        exact = _note_exact(connection, text)
        return _Matches(_ALL, (exact, *((0, anywhere - exact) if most == 2 else (anywhere - exact, 0))), most)
    total, exact = _note(connection, query, text, most)
    if not most:
        (of_value,) = connection.execute("SELECT count(*) FROM ranked WHERE class = 1").fetchone()
        return _Matches(_NOTED, (exact, of_value, total - exact - of_value))
    return _Matches(_NOTED, (exact, *((0, total - exact) if most == 2 else (total - exact, 0))), most)


def _note(connection: sqlite3.Connection, query: IocQuery, text: SearchText, most: int) -> tuple[int, int]:
    """Note what matches; return how many there are, and how many of them are exact values."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS ranked (seq INTEGER PRIMARY KEY, class INTEGER)")
    connection.execute("DELETE FROM ranked")
    found = matching_seqs(query)
    sql = f"INSERT INTO ranked (seq, class) SELECT seq, ? FROM ({found.text})"
    total = connection.execute(sql, (most or 2, *found.parameters)).rowcount
    if not most:
        value = in_value(text)
        connection.execute(f"UPDATE ranked SET class = 1 WHERE seq IN ({value.text})", value.parameters)
    _note_exact(connection, text)
    exact = connection.execute("UPDATE ranked SET class = 0 WHERE seq IN (SELECT seq FROM exact)").rowcount
    return total, exact


def _note_exact(connection: sqlite3.Connection, text: SearchText) -> int:
    """Note the exact values that there are, whether they match the rest of the query or not; return how many."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS exact (seq INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM exact")
    exact = of_ids(text.exact_ids)
    return connection.execute(f"INSERT INTO exact (seq) {exact.text}", exact.parameters).rowcount


def _count_in(connection: sqlite3.Connection, columns: str, text: SearchText) -> int:
    found = matching_iocs(text.clauses, columns)
    return _count(connection, Sql(f"SELECT count(*) FROM ({found.text})", found.parameters))


def _start(query: IocQuery) -> _Rank:
    if query.after is None:
        return _TOP
    class_, sources, newest, id = query.after.values
    return _Rank(int(class_), -int(sources), -int(newest), id_bytes(str(id)))


def _of_class(connection: sqlite3.Connection, matches: _Matches, class_: int, start: _Rank, limit: int) -> Rows:
    """Return the first `limit` of a class that stand after the start."""
    count = matches.counts[class_]
    if limit <= 0 or start.class_ > class_ or not count:
        return []
    start = start if start.class_ == class_ else _TOP
    asked: Asked = {
        "class": class_, "fewest_last": start.fewest_last, "newest_first": start.newest_first, "id": start.id,
        "limit": limit, "count": count if matches.table == _NOTED else _ANY, "most": matches.most,
    }  # fmt: skip
    rows = _walked(connection, matches.table, asked) if count > _FEW else None
    if rows is None:
        sql = _SORTED.format(matches.table, _IS_EXACT if class_ == 0 else "TRUE")
        return connection.execute(sql, asked).fetchall()
    return rows


def _walked(connection: sqlite3.Connection, table: str, asked: Asked) -> Rows | None:
    """Return the rows that a walk finds; None where it would go far without filling the page."""
    rows: Rows = []
    if int(asked["fewest_last"]) < -1:
        if _is_there(connection, _BEYOND_MANY, asked):
            return None
        rows = connection.execute(_OF_MANY.format(table), asked).fetchall()
        asked = {**asked, "newest_first": _TOP.newest_first, "id": _TOP.id}
    if len(rows) == asked["limit"]:
        return rows
    end = connection.execute(_END, {**asked, "steps": _STEPS}).fetchone()
    bounds = {"last": end["newest_first"], "last_id": end["id"]} if end else {"last": 2**62, "last_id": b""}
    left = {"limit": int(asked["limit"]) - len(rows)}
    rows += connection.execute(_OF_ONE.format(table), {**asked, **bounds, **left}).fetchall()
    return None if end and len(rows) < int(asked["limit"]) else rows


def _is_there(connection: sqlite3.Connection, sql: str, asked: Asked) -> bool:
    return connection.execute(sql, asked).fetchone() is not None


def _all(connection: sqlite3.Connection, statement: Sql) -> Rows:
    return connection.execute(statement.text, statement.parameters).fetchall()


def _count(connection: sqlite3.Connection, statement: Sql) -> int:
    (counted,) = connection.execute(statement.text, statement.parameters).fetchone()
    return int(counted)


_EVERYTHING = Sql("SELECT coalesce(sum(iocs), 0) FROM ioc_counts")
_NOTED = "ranked"
_ALL = "(SELECT seq, CASE WHEN seq IN (SELECT seq FROM exact) THEN 0 ELSE :most END AS class FROM iocs)"
_AFTER = "(-sources, newest_first, id) > (:fewest_last, :newest_first, :id)"
_IS_EXACT = "ranked.seq IN (SELECT seq FROM exact)"
_SORTED = f"""
    SELECT seq, :class AS class, -sources AS fewest_last, newest_first, id
    FROM {{}} AS ranked CROSS JOIN iocs USING (seq)
    WHERE {{}} AND class = :class AND {_AFTER} ORDER BY fewest_last, newest_first, id LIMIT :limit
"""
# What several sources name has an index of its own; what one names stands in the order of all indicators.
_OF_MANY = f"""
    SELECT seq, :class AS class, -sources AS fewest_last, newest_first, id
    FROM iocs INDEXED BY iocs_of_many_sources CROSS JOIN {{}} AS ranked USING (seq)
    WHERE sources > 1 AND sources <= -:fewest_last AND {_AFTER} AND ranked.class = :class
    ORDER BY sources DESC, newest_first, id LIMIT :limit
"""
_BEYOND_MANY = "SELECT 1 FROM iocs INDEXED BY iocs_of_many_sources WHERE sources > 1 LIMIT 1 OFFSET :count"
_OF_ONE = """
    SELECT step.seq, :class AS class, -1 AS fewest_last, step.newest_first, step.id
    FROM iocs AS step INDEXED BY iocs_newest CROSS JOIN {} AS ranked ON ranked.seq = step.seq
    CROSS JOIN iocs AS named ON named.seq = step.seq
    WHERE (step.newest_first, step.id) > (:newest_first, :id) AND (step.newest_first, step.id) <= (:last, :last_id)
        AND ranked.class = :class AND named.sources = 1
    ORDER BY step.newest_first, step.id LIMIT :limit
"""
_END = """
    SELECT newest_first, id FROM iocs INDEXED BY iocs_newest WHERE (newest_first, id) > (:newest_first, :id)
    ORDER BY newest_first, id LIMIT 1 OFFSET :steps
"""
