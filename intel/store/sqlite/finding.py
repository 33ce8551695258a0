"""Statements for lists and searches. Each selects the sort values of its records, the id last, in order."""

from __future__ import annotations

import json
from collections.abc import Sequence

from intel.query import ArticleQuery, IocQuery, Position, SearchText
from intel.store.sqlite.matching import ANYWHERE, IN_VALUE, Sql, matching_articles, matching_iocs
from intel.times import to_milliseconds


def ioc_list(query: IocQuery) -> Sql:
    """One page and one record more: (newest_first, id)."""
    where = _all_of([*_ioc_filters(query, _list_table(query)), *_after_newest(query.after)])
    return Sql(
        f"SELECT newest_first, id FROM {_list_table(query)}{where.text} ORDER BY newest_first, id LIMIT ?",
        (*where.parameters, query.limit + 1),
    )


def ioc_list_total(query: IocQuery) -> Sql:
    """How many records the whole list has."""
    if (query.ids, query.since, query.until, query.source) == (None, None, None, None):
        where = _all_of([Sql("type = ?", (query.type,))] if query.type else [])
        return Sql(f"SELECT coalesce(sum(iocs), 0) FROM ioc_totals{where.text}", where.parameters)
    where = _all_of(_ioc_filters(query, _list_table(query)))
    return Sql(f"SELECT count(*) FROM {_list_table(query)}{where.text}", where.parameters)


def ioc_search(query: IocQuery, text: SearchText) -> Sql:
    """One page and one record more: (class, fewest_last, newest_first, id)."""
    where = _all_of(_matching_filters(query, text))
    in_value = matching_iocs(text.clauses, IN_VALUE)
    after = _after_rank(query.after)
    ranked = f"""
        SELECT CASE WHEN id IN (SELECT value FROM json_each(?)) THEN 0 WHEN seq IN ({in_value.text}) THEN 1 ELSE 2 END
               AS class, -sources AS fewest_last, newest_first, id
        FROM iocs{where.text}"""
    return Sql(
        f"SELECT * FROM ({ranked}){after.text} ORDER BY class, fewest_last, newest_first, id LIMIT ?",
        (_json(text.exact_ids), *in_value.parameters, *where.parameters, *after.parameters, query.limit + 1),
    )


def ioc_search_total(query: IocQuery, text: SearchText) -> Sql:
    """How many indicators the whole search finds."""
    if not _ioc_filters(query, "iocs"):
        matching = matching_iocs(text.clauses, ANYWHERE, text.exact_ids)
        return Sql(f"SELECT count(*) FROM ({matching.text})", matching.parameters)
    where = _all_of(_matching_filters(query, text))
    return Sql(f"SELECT count(*) FROM iocs{where.text}", where.parameters)


def article_list(query: ArticleQuery) -> Sql:
    """One page and one record more: (newest_first, id)."""
    where = _all_of([*_article_filters(query), *_after_newest(query.after)])
    return Sql(
        f"SELECT newest_first, id FROM articles{where.text} ORDER BY newest_first, id LIMIT ?",
        (*where.parameters, query.limit + 1),
    )


def article_total(query: ArticleQuery) -> Sql:
    """How many articles the whole list or search has."""
    where = _all_of(_article_filters(query))
    return Sql(f"SELECT count(*) FROM articles{where.text}", where.parameters)


def _list_table(query: IocQuery) -> str:
    return "iocs" if query.source is None else "ioc_sources"


def _ioc_filters(query: IocQuery, table: str) -> list[Sql]:
    filters = []
    if query.source is not None and table == "ioc_sources":
        filters.append(Sql("source_name = ?", (query.source,)))
    elif query.source is not None:
        filters.append(Sql("id IN (SELECT id FROM ioc_sources WHERE source_name = ?)", (query.source,)))
    if query.type is not None:
        filters.append(Sql("type = ?", (query.type,)))
    if query.since is not None:
        filters.append(Sql("newest_first <= ?", (-to_milliseconds(query.since),)))
    if query.until is not None:
        filters.append(Sql("newest_first >= ?", (-to_milliseconds(query.until),)))
    if query.ids is not None:
        filters.append(Sql("id IN (SELECT value FROM json_each(?))", (_json(query.ids),)))
    return filters


def _matching_filters(query: IocQuery, text: SearchText) -> list[Sql]:
    matching = matching_iocs(text.clauses, ANYWHERE, text.exact_ids)
    return [Sql(f"seq IN ({matching.text})", matching.parameters), *_ioc_filters(query, "iocs")]


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
