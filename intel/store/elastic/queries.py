"""Write the service's questions as Elasticsearch's queries. Pure.

Order is by class of match: scores are constants (2 for the indicator that the whole search names, 1 for a match in the
value itself, 0 for any other), everything else only filters, so that no statistics of terms play a part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from intel.query import ArticleQuery, Clause, IocFilter, IocQuery, Network, Position, SearchText, Sort, Span
from intel.store.elastic.documents import moment

Query = dict[str, Any]

_EXACT_SCORE = 2
_MOST_TYPES = 100
# Beyond so many values, what several shards count together may leave out some of the rarest.
MOST_OF_A_SHARD = 10_000
MOST_FACET_SOURCES = 20
MOST_FACET_WEEKS = 26
NOTHING: Query = {"match_none": {}}
# An indicator, not the mark of a removed one.
THERE: Query = {"exists": {"field": "last_seen"}}


NEWEST_IOCS = [{"last_seen": "desc"}, {"id": "asc"}]
_ORDERS: dict[Sort, list[Query]] = {
    "last_seen": NEWEST_IOCS,
    "first_seen": [{"first_seen": "desc"}, {"id": "asc"}],
    # What a former version stored has none before it is numbered, and counts as added when it was first seen.
    "added_at": [{"added_at": {"order": "desc", "missing": "_last"}}, {"id": "asc"}],
    "sources": [{"sources": "desc"}, *NEWEST_IOCS],
}
_BEST_IOCS = [{"_score": "desc"}, {"sources": "desc"}, *NEWEST_IOCS]
NEWEST_ARTICLES = [{"seen_at": "desc"}, {"id": "asc"}]
SIGHTINGS_IN_ORDER = [{"position": "asc"}, {"ioc_id": "asc"}]
NEWEST_SIGHTINGS = [{"seen_at": "desc"}, {"article_id": "asc"}]


def ioc_page(query: IocQuery) -> Query:
    """Return the request for one page of indicators."""
    filters = _restrictions(query)
    order = _ORDERS[query.sort or "last_seen"]
    if query.text is not None:
        filters.append(_matches(query.text))
    if query.text is None or query.sort is not None:
        return _page({"bool": {"filter": filters}}, order, query.limit, _after(query.after))
    scored = {"bool": {"filter": filters, "should": [{"dis_max": {"queries": _classes(query.text)}}]}}
    return _page(scored, _BEST_IOCS, query.limit, _best_after(query.after))


def ioc_searches(query: IocQuery) -> list[Query]:
    """Return the requests for one page of indicators: for the first one of a list also how many there are in all, and
    last the facets where they are asked for.

    The index is kept in the order of lists, so that a page ends as soon as it is full, unless all has to be counted
    too. Counted by itself the number is kept by the cluster until the index changes.
    """
    page, facets = ioc_page(query), [ioc_facets(query)] if query.facets and query.after is None else []
    if query.text is not None or query.after is not None or query.sort not in (None, "last_seen"):
        return [page, *facets]
    return [*_counted_beside(page), *facets]


def _counted_beside(page: Query) -> list[Query]:
    return [{**page, "track_total_hits": False}, {"query": page["query"], "size": 0, "track_total_hits": True}]


def ioc_facets(query: IocQuery) -> Query:
    """Return the request for the counts of a whole list or search by type, source and week."""
    filters = _restrictions(query)
    if query.text is not None:
        filters.append(_matches(query.text))
    by_week = {"field": "last_seen", "calendar_interval": "week", "min_doc_count": 1, "order": {"_key": "desc"}}
    facets = {
        "types": {"terms": _most("type", _MOST_TYPES)},
        "sources": {"terms": _most("source_names", MOST_FACET_SOURCES)},
        "weeks": {"date_histogram": by_week},
    }
    return {"query": {"bool": {"filter": filters}}, "size": 0, "track_total_hits": False, "aggs": facets}


def _most(field: str, size: int) -> Query:
    # Of one shard every count is exact, of several as long as each returns all values that it has.
    return {"field": field, "size": size, "shard_size": MOST_OF_A_SHARD, "order": [{"_count": "desc"}, {"_key": "asc"}]}


def article_page(query: ArticleQuery) -> Query:
    """Return the request for one page of articles."""
    filters: list[Query] = [{"exists": {"field": "seen_at"}}]
    if query.tags:
        filters.append({"terms": {"tags": query.tags}})
    if query.tlps:
        filters.append({"terms": {"tlp": query.tlps}})
    if query.source is not None:
        filters.append(term("source_name", query.source))
    if query.text is not None:
        filters += [any_of(_phrases(clause, "words")) for clause in query.text.clauses] or [NOTHING]
    return _page({"bool": {"filter": filters}}, NEWEST_ARTICLES, query.limit, _after(query.after))


def article_searches(query: ArticleQuery) -> list[Query]:
    """Return the request for one page of articles, and for the first one of a list how many there are in all.

    What is not counted ends early: of dates, which are kept in order, the last ones are found first.
    """
    page = article_page(query)
    return [page] if query.text is not None or query.after is not None else _counted_beside(page)


def sightings_in(article_id: str, limit: int, after: Position | None) -> Query:
    """Return the request for one page of what was seen in an article, in order of first appearance."""
    page = _page(term("article_id", article_id), SIGHTINGS_IN_ORDER, limit, _after(after))
    return page | {"_source": ["ioc_id"], "track_total_hits": False}


def total_of(limit: int, found: Query, counted: Query | None) -> int:
    """Return how many there are in all, from the answers to a first page of so many and to what counts beside it."""
    hits = len(found["hits"]["hits"])
    if counted is None:
        return int(found["hits"]["total"]["value"])
    return hits if hits <= limit else max(int(counted["hits"]["total"]["value"]), hits)


def position_of(sort: Sequence[Any], searched: bool) -> Position:
    """Return where a page ended, from its last hit's sort values."""
    if not searched:
        return Position(tuple(sort))
    return Position((_EXACT_SCORE - int(sort[0]), *sort[1:]))


ALL_ARTICLES: Query = {"exists": {"field": "seen_at"}}


def term(field: str, value: str) -> Query:
    """Match documents that hold exactly that value."""
    return {"term": {field: {"value": value}}}


def since(field: str, start: datetime, end: datetime | None = None) -> Query:
    """Match documents of a span, its end not included."""
    bounds = {"gte": moment(start)} | ({} if end is None else {"lt": moment(end)})
    return {"range": {field: bounds}}


def any_of(queries: Sequence[Query]) -> Query:
    """Match what matches at least one of the queries."""
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": queries, "minimum_should_match": 1}} if queries else NOTHING


def _page(query: Query, sort: Sequence[Query], limit: int, after: list[int | str] | None) -> Query:
    page: Query = {"query": query, "sort": sort, "size": limit + 1, "track_total_hits": after is None}
    return page if after is None else page | {"search_after": after}


def _after(position: Position | None) -> list[int | str] | None:
    return None if position is None else list(position.values)


def _best_after(position: Position | None) -> list[int | str] | None:
    if position is None:
        return None
    match_class, *rest = position.values
    return [_EXACT_SCORE - int(match_class), *rest]


def _restrictions(query: IocQuery) -> list[Query]:
    found: list[Query] = [THERE, *filtered(query.filter)]
    if query.ids is not None:
        found.append({"terms": {"id": query.ids}})
    return found


def filtered(only: IocFilter) -> list[Query]:
    """Return all that a filter asks of an indicator."""
    found = [any_of([_span(span) for span in only.spans])]
    if only.sources:
        found.append({"terms": {"source_names": only.sources}})
    if only.malware:
        folded = {"terms": {"malware_folded": only.folded_families}}
        # What a former version stored has no folded names.
        found.append(any_of([folded, {"terms": {"malware": only.families}}]))
    if only.tags:
        found.append({"terms": {"tags": only.tags}})
    if only.tlps:
        found.append({"terms": {"tlp": only.tlps}})
    if only.added_since is not None:
        found.append(_added_since(only.added_since))
    if only.min_sources > 1:
        found.append({"range": {"sources": {"gte": only.min_sources}}})
    found += [{"bool": {"must_not": [{"term": {mark: True}}]}} for one, mark in _MARKS.items() if one in only.exclude]
    return [one for one in found if one != _EVERYTHING]


_EVERYTHING: Query = {"match_all": {}}
_MARKS = {"warned": "warned", "false_positive": "voted"}


def _span(span: Span) -> Query:
    found: list[Query] = []
    if span.types:
        found.append({"terms": {"type": span.types}} if len(span.types) > 1 else term("type", span.types[0]))
    if span.since is not None or span.until is not None:
        bounds = {"gte": span.since, "lte": span.until}
        found.append({"range": {"last_seen": {name: moment(time) for name, time in bounds.items() if time}}})
    if len(found) == 1:
        return found[0]
    return {"bool": {"filter": found}} if found else _EVERYTHING


def _added_since(start: datetime) -> Query:
    # What a former version stored counts as added when it was first seen, until it is numbered.
    untold = {"filter": [since("first_seen", start)], "must_not": [{"exists": {"field": "added_at"}}]}
    return any_of([since("added_at", start), {"bool": untold}])


def _matches(text: SearchText) -> Query:
    clauses = [any_of([*_in_value(clause), *_phrases(clause, "article_words")]) for clause in text.clauses]
    return any_of([*_exact(text), *([{"bool": {"filter": clauses}}] if clauses else [])])


def _classes(text: SearchText) -> list[Query]:
    in_value = {"bool": {"filter": [any_of(_in_value(clause)) for clause in text.clauses]}}
    classes = [{"constant_score": {"filter": exact, "boost": _EXACT_SCORE}} for exact in _exact(text)]
    return [*classes, {"constant_score": {"filter": in_value, "boost": 1}}]


def _exact(text: SearchText) -> list[Query]:
    return [{"terms": {"id": text.exact_ids}}] if text.exact_ids else []


def _in_value(clause: Clause) -> list[Query]:
    found = _phrases(clause, "words")
    if clause.hosts:
        found.append({"terms": {"hosts": clause.hosts}})
    if clause.ids:
        found.append({"terms": {"id": clause.ids}})
    if clause.network is not None:
        found.append(_in_network(clause.network))
    return found


def _in_network(network: Network) -> Query:
    # Versions are apart: among 16-byte addresses, ::/0 would hold every IPv4 address too.
    field = "ipv6" if ":" in network.first else "ipv4"
    return {"range": {field: {"gte": network.first, "lte": network.last}}}


def _phrases(clause: Clause, field: str) -> list[Query]:
    return list(_phrase_queries(clause, field))


def _phrase_queries(clause: Clause, field: str) -> Iterable[Query]:
    for phrase in clause.phrases:
        if len(phrase) > 1:
            yield {"match_phrase": {field: {"query": " ".join(phrase)}}}
        elif phrase:
            yield {"prefix" if clause.prefix else "term": {field: {"value": phrase[0]}}}
