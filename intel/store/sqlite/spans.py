"""Which of many indicators stand in spans of type and time, told from their packed keys.

Only those are read that the key leaves open: of a week that a span begins or ends in, or named by several sources.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence

from intel.query import IocFilter, Span
from intel.store.sqlite import filtering
from intel.store.sqlite.facet_keys import sift
from intel.store.sqlite.kinds import WEEK_MILLISECONDS, parts_of_kind, week_begins
from intel.store.sqlite.rows import to_json
from intel.times import to_milliseconds

# So many rows are read in less time than the keys of as many blocks.
_FEW = 500
_AT_ONCE = 10_000


def within(connection: sqlite3.Connection, seqs: Sequence[int], only: IocFilter) -> array[int]:
    """Return those of indicators, given and returned in order of `seq`, that the types, times and statuses let in."""
    spans = only.spans

    def says(kind: int) -> bool | None:
        answers = {_says(span, *parts_of_kind(kind)) for span in spans}
        return True if True in answers else None if None in answers else False

    inside, left_open = sift(connection, seqs, says) if len(seqs) > _FEW else (array("q"), array("q", seqs))
    where = filtering.where(filtering.of_spans(only, filtering.COLUMNS["iocs"]))
    asked: list[int] = []
    for start in range(0, len(left_open), _AT_ONCE):
        portion = to_json(left_open[start : start + _AT_ONCE].tolist())
        asked += [seq for (seq,) in connection.execute(_OPEN.format(where.text), (portion, *where.parameters))]
    return array("q", sorted([*inside, *asked])) if asked else inside


def _says(span: Span, type: str, week: int) -> bool | None:
    """Tell whether a span holds all of a week, or nothing of it; None where it begins or ends in it."""
    if span.types and type not in span.types:
        return False
    first, last = week_begins(week), week_begins(week) + WEEK_MILLISECONDS - 1
    since = first if span.since is None else to_milliseconds(span.since)
    until = last if span.until is None else to_milliseconds(span.until)
    if since > last or until < first:
        return False
    return True if since <= first and last <= until else None


_OPEN = "SELECT i.seq FROM json_each(?) AS n CROSS JOIN iocs AS i ON i.seq = n.value{}"
