"""Statements for lists and searches. Each selects `seq` and the sort values of its records, the id last, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from intel.query import ArticleQuery, IocQuery, Position, SearchText
from intel.store.sqlite.matching import ANYWHERE, IN_VALUE, Sql, matching_articles, matching_iocs, of_ids
from intel.store.sqlite.rows import id_bytes
from intel.times import to_milliseconds

_ADDED_SINCE = "SELECT seq FROM iocs WHERE added_at >= ?"
OF_SOURCE = "source_seq = (SELECT seq FROM sources WHERE name = ?)"


def ioc_list(query: IocQuery) -> Sql:
    """Return one page and one record more: (seq, newest_first, id)."""
    table, after = _list_table(query), query.after
    where = _all_of([*_list_filters(query), *([] if after is None else [_after_newest(after, id_bytes)])])
    return Sql(
        f"SELECT {table.seq} AS seq, newest_first, id FROM {table.name}{where.text} ORDER BY newest_first, id LIMIT ?",
        (*where.parameters, query.limit + 1),
    )


def ioc_list_total(query: IocQuery) -> Sql:
    """Return how many records the whole list has."""
    if is_counted(query):
        table, where = counted(query)
        return Sql(f"SELECT coalesce(sum(iocs), 0) FROM {table}{where.text}", where.parameters)
    where = _all_of(_list_filters(query))
    return Sql(f"SELECT count(*) FROM {_list_table(query).name}{where.text}", where.parameters)


def is_counted(query: IocQuery) -> bool:
    """Return whether the numbers of a query are kept: those of all indicators, of a type, and of a source name."""
    return (query.text, query.ids, query.since, query.until, query.added_since) == (None,) * 5


def is_unfiltered(query: IocQuery) -> bool:
    """Return whether a list asks for all indicators, or a search for all that its text matches."""
    return (query.type, query.source) == (None, None) and is_counted(replace(query, text=None))


def is_span(query: IocQuery) -> bool:
    """Return whether a query asks for no more than `plain_filters` say."""
    return (query.text, query.ids, query.source, query.added_since) == (None,) * 4


def plain_filters(query: IocQuery) -> Sql:
    """Return type and time as a condition that both `iocs` and `source_lists` can be asked with."""
    return _all_of(_plain(query))


def counted(query: IocQuery) -> tuple[str, Sql]:
    """Return the table of numbers by type and week, and the condition, for a query that `is_counted`."""
    filters = [Sql("type = ?", (query.type,))] if query.type else []
    if query.source is None:
        return "ioc_counts", _all_of(filters)
    return "source_weeks", _all_of([Sql(OF_SOURCE, (query.source,)), *filters])


def ioc_search(query: IocQuery, text: SearchText) -> Sql:
    """Return one page and one record more: (seq, class, fewest_last, newest_first, id)."""
    matching, filters, after = _matching(query, text), _all_of(_plain(query)), _after_rank(query.after)
    class_ = _class(text)
    # CROSS JOIN keeps the engine from beginning with the larger table.
    ranked = f"""
        SELECT seq, {class_.text} AS class, -sources AS fewest_last, newest_first, id
        FROM ({matching.text}) AS matching CROSS JOIN iocs USING (seq){filters.text}"""
    return Sql(
        f"SELECT * FROM ({ranked}){after.text} ORDER BY class, fewest_last, newest_first, id LIMIT ?",
        (*class_.parameters, *matching.parameters, *filters.parameters, *after.parameters, query.limit + 1),
    )


def in_value(text: SearchText) -> Sql:
    """Select `seq` of the indicators in whose value every clause matches."""
    return matching_iocs(text.clauses, IN_VALUE)


def matching_seqs(query: IocQuery) -> Sql:
    """Select `seq` of all indicators of a list or search, in no order."""
    if query.text is None:
        table, where = _list_table(query), _all_of(_list_filters(query))
        return Sql(f"SELECT {table.seq} AS seq FROM {table.name}{where.text}", where.parameters)
    matching = _matching(query, query.text)
    if not _plain(query):
        return matching
    where = _all_of([Sql(f"seq IN ({matching.text})", matching.parameters), *_plain(query)])
    return Sql(f"SELECT seq FROM iocs{where.text}", where.parameters)


def article_list(query: ArticleQuery) -> Sql:
    """Return one page and one record more: (seq, newest_first, id)."""
    after = [] if query.after is None else [_after_newest(query.after, str)]
    where = _all_of([*_article_filters(query), *after])
    return Sql(
        f"SELECT seq, newest_first, id FROM articles{where.text} ORDER BY newest_first, id LIMIT ?",
        (*where.parameters, query.limit + 1),
    )


def article_total(query: ArticleQuery) -> Sql:
    """Return how many articles the whole list or search has."""
    where = _all_of(_article_filters(query))
    return Sql(f"SELECT count(*) FROM articles{where.text}", where.parameters)


class _Table(NamedTuple):
    """A table that lists are read from, and its column with an indicator's `seq`."""

    name: str
    seq: str


_ALL = _Table("iocs", "seq")
_OF_SOURCE = _Table("source_lists", "ioc_seq")


def _list_table(query: IocQuery) -> _Table:
    return _ALL if query.source is None or query.ids is not None else _OF_SOURCE


def _list_filters(query: IocQuery) -> list[Sql]:
    table, filters = _list_table(query), _plain(query)
    if query.source is not None:
        text = OF_SOURCE if table is _OF_SOURCE else f"seq IN (SELECT ioc_seq FROM ioc_sources WHERE {OF_SOURCE})"
        filters.append(Sql(text, (query.source,)))
    if query.ids is not None:
        filters.append(Sql(f"id IN ({', '.join('?' * len(query.ids))})", tuple(map(id_bytes, query.ids))))
    if query.added_since is not None:
        added = "added_at >= ?" if table is _ALL else f"ioc_seq IN ({_ADDED_SINCE})"
        filters.append(Sql(added, (to_milliseconds(query.added_since),)))
    return filters


def _class(text: SearchText) -> Sql:
    """Return the class of a match; each case costs time at every match."""
    value = in_value(text)
    if not text.exact_ids:
        return Sql(f"CASE WHEN seq IN ({value.text}) THEN 1 ELSE 2 END", value.parameters)
    exact = of_ids(text.exact_ids)
    return Sql(
        f"CASE WHEN seq IN ({exact.text}) THEN 0 WHEN seq IN ({value.text}) THEN 1 ELSE 2 END",
        (*exact.parameters, *value.parameters),
    )


def _plain(query: IocQuery) -> list[Sql]:
    filters = []
    if query.type is not None:
        filters.append(Sql("type = ?", (query.type,)))
    if query.since is not None:
        filters.append(Sql("newest_first <= ?", (-to_milliseconds(query.since),)))
    if query.until is not None:
        filters.append(Sql("newest_first >= ?", (-to_milliseconds(query.until),)))
    return filters


def _matching(query: IocQuery, text: SearchText) -> Sql:
    """Select `seq` of what matches the text, the source, the ids and `added_since`: as sets, because the engine would
    otherwise try each id with each match.
    """
    sets = [matching_iocs(text.clauses, ANYWHERE, text.exact_ids)]
    if query.source is not None:
        sets.append(Sql(f"SELECT ioc_seq AS seq FROM source_lists WHERE {OF_SOURCE}", (query.source,)))
    if query.ids is not None:
        sets.append(of_ids(query.ids))
    if query.added_since is not None:
        sets.append(Sql(_ADDED_SINCE, (to_milliseconds(query.added_since),)))
    parameters = tuple(parameter for one in sets for parameter in one.parameters)
    return Sql(" INTERSECT ".join(f"SELECT seq FROM ({one.text})" for one in sets), parameters)


def _article_filters(query: ArticleQuery) -> list[Sql]:
    filters = []
    if query.source is not None:
        filters.append(Sql("source_name = ?", (query.source,)))
    if query.text is not None:
        matching = matching_articles(query.text.clauses)
        filters.append(Sql(f"seq IN ({matching.text})", matching.parameters))
    return filters


def _after_newest(after: Position, stored: Callable[[str], str | bytes]) -> Sql:
    newest, id = after.values
    return Sql("(newest_first, id) > (?, ?)", (-int(newest), stored(str(id))))


def _after_rank(after: Position | None) -> Sql:
    if after is None:
        return Sql("")
    class_, sources, newest, id = after.values
    position = (class_, -int(sources), -int(newest), id_bytes(str(id)))
    return Sql(" WHERE (class, fewest_last, newest_first, id) > (?, ?, ?, ?)", position)


def _all_of(conditions: Sequence[Sql]) -> Sql:
    if not conditions:
        return Sql("")
    parameters = tuple(parameter for condition in conditions for parameter in condition.parameters)
    return Sql(" WHERE " + " AND ".join(condition.text for condition in conditions), parameters)
