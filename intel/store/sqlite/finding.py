"""Statements for lists and searches. Each selects the sort values of its records, the id last, in order."""

from __future__ import annotations

import json
from collections.abc import Sequence

from intel.query import ArticleQuery, IocQuery, Position, SearchText
from intel.store.sqlite.matching import ANYWHERE, IN_VALUE, Sql, matching_articles, matching_iocs
from intel.times import to_milliseconds

_SEQ_OF_IDS = "SELECT seq FROM iocs WHERE id IN (SELECT value FROM json_each(?))"
_ADDED_SINCE = "SELECT seq FROM iocs WHERE added_at >= ?"
_HAS_SOURCE = "EXISTS (SELECT 1 FROM ioc_sources AS s WHERE s.seq = iocs.seq AND s.source_name = ?)"


def ioc_list(query: IocQuery) -> Sql:
    """Return one page and one record more: (newest_first, id)."""
    where = _all_of([*_list_filters(query), *_after_newest(query.after)])
    return Sql(
        f"SELECT newest_first, id FROM {_list_table(query)}{where.text} ORDER BY newest_first, id LIMIT ?",
        (*where.parameters, query.limit + 1),
    )


def ioc_list_total(query: IocQuery) -> Sql:
    """Return how many records the whole list has."""
    if (query.ids, query.since, query.until, query.source, query.added_since) == (None,) * 5:
        where = _all_of([Sql("type = ?", (query.type,))] if query.type else [])
        return Sql(f"SELECT coalesce(sum(iocs), 0) FROM ioc_totals{where.text}", where.parameters)
    where = _all_of(_list_filters(query))
    return Sql(f"SELECT count(*) FROM {_list_table(query)}{where.text}", where.parameters)


def ioc_search(query: IocQuery, text: SearchText) -> Sql:
    """Return one page and one record more: (class, fewest_last, newest_first, id)."""
    matching, filters, after = _matching(query, text), _all_of(_plain(query)), _after_rank(query.after)
    class_ = _class(text)
    # CROSS JOIN keeps the engine from beginning with the larger table.
    ranked = f"""
        SELECT {class_.text} AS class, -sources AS fewest_last, newest_first, id
        FROM ({matching.text}) AS matching CROSS JOIN iocs USING (seq){filters.text}"""
    return Sql(
        f"SELECT * FROM ({ranked}){after.text} ORDER BY class, fewest_last, newest_first, id LIMIT ?",
        (*class_.parameters, *matching.parameters, *filters.parameters, *after.parameters, query.limit + 1),
    )


def ioc_search_total(query: IocQuery) -> Sql:
    """Return how many indicators the whole search finds."""
    matching = matching_seqs(query)
    return Sql(f"SELECT count(*) FROM ({matching.text})", matching.parameters)


def is_plain(query: IocQuery) -> bool:
    """Tell whether a query asks for no more than `plain_filters` say."""
    return query.text is None and query.source is None and query.ids is None and query.added_since is None


def plain_filters(query: IocQuery) -> Sql:
    """Type and time as a condition that both `iocs` and `ioc_sources` can be asked with."""
    return _all_of(_plain(query))


def matching_seqs(query: IocQuery) -> Sql:
    """Selects `seq` of all indicators of a list or search, in no order."""
    if query.text is None:
        table, filters = _list_table(query), _list_filters(query)
    else:
        matching = _matching(query, query.text)
        if not _plain(query):
            return matching
        table, filters = "iocs", [Sql(f"seq IN ({matching.text})", matching.parameters), *_plain(query)]
    where = _all_of(filters)
    return Sql(f"SELECT seq FROM {table}{where.text}", where.parameters)


def article_list(query: ArticleQuery) -> Sql:
    """Return one page and one record more: (newest_first, id)."""
    where = _all_of([*_article_filters(query), *_after_newest(query.after)])
    return Sql(
        f"SELECT newest_first, id FROM articles{where.text} ORDER BY newest_first, id LIMIT ?",
        (*where.parameters, query.limit + 1),
    )


def article_total(query: ArticleQuery) -> Sql:
    """Return how many articles the whole list or search has."""
    where = _all_of(_article_filters(query))
    return Sql(f"SELECT count(*) FROM articles{where.text}", where.parameters)


def _list_table(query: IocQuery) -> str:
    return "iocs" if query.source is None or query.ids is not None else "ioc_sources"


def _list_filters(query: IocQuery) -> list[Sql]:
    filters = _plain(query)
    if query.source is not None:
        filters.append(Sql("source_name = ?" if query.ids is None else _HAS_SOURCE, (query.source,)))
    if query.ids is not None:
        filters.append(Sql("id IN (SELECT value FROM json_each(?))", (_json(query.ids),)))
    if query.added_since is not None:
        added = "added_at >= ?" if _list_table(query) == "iocs" else f"seq IN ({_ADDED_SINCE})"
        filters.append(Sql(added, (to_milliseconds(query.added_since),)))
    return filters


def _class(text: SearchText) -> Sql:
    """Return the class of a match; each case costs time at every match."""
    in_value = matching_iocs(text.clauses, IN_VALUE)
    if not text.exact_ids:
        return Sql(f"CASE WHEN seq IN ({in_value.text}) THEN 1 ELSE 2 END", in_value.parameters)
    return Sql(
        f"CASE WHEN seq IN ({_SEQ_OF_IDS}) THEN 0 WHEN seq IN ({in_value.text}) THEN 1 ELSE 2 END",
        (_json(text.exact_ids), *in_value.parameters),
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
        sets.append(Sql("SELECT seq FROM ioc_sources WHERE source_name = ?", (query.source,)))
    if query.ids is not None:
        sets.append(Sql(_SEQ_OF_IDS, (_json(query.ids),)))
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


def _after_newest(after: Position | None) -> list[Sql]:
    if after is None:
        return []
    newest, id = after.values
    return [Sql("(newest_first, id) > (?, ?)", (-int(newest), id))]


def _after_rank(after: Position | None) -> Sql:
    if after is None:
        return Sql("")
    class_, sources, newest, id = after.values
    position = (class_, -int(sources), -int(newest), id)
    return Sql(" WHERE (class, fewest_last, newest_first, id) > (?, ?, ?, ?)", position)


def _all_of(conditions: Sequence[Sql]) -> Sql:
    if not conditions:
        return Sql("")
    parameters = tuple(parameter for condition in conditions for parameter in condition.parameters)
    return Sql(" WHERE " + " AND ".join(condition.text for condition in conditions), parameters)


def _json(ids: Sequence[str]) -> str:
    return json.dumps(list(ids))
