"""Statements for lists and searches. Each selects `seq` and the sort values of its records, the id last, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType

from intel.query import ANY, ArticleQuery, IocFilter, IocQuery, Position, SearchText, Span
from intel.store.sqlite import filtering, places
from intel.store.sqlite.filtering import OF_SOURCE
from intel.store.sqlite.matching import ANYWHERE, IN_VALUE, Sql, matching_articles, matching_iocs, of_ids
from intel.store.sqlite.rows import IOC_COLUMNS, id_bytes
from intel.times import to_milliseconds

# As many lists are read side by side; the engine joins 500 at most.
_MOST_LANES = 100
_ALL = 2**53
# The columns of each order, as statements name them, and the index that stands in it.
_ORDERS = MappingProxyType(
    {
        "last_seen": ("newest_first, id", "iocs_newest"),
        "first_seen": ("first_seen DESC, id", "iocs_by_first_seen"),
        "added_at": ("added_at DESC, id", "iocs_by_addition"),
        "sources": ("fewest_last, newest_first, id", ""),
    }
)


def ioc_list(query: IocQuery) -> Sql:
    """Return one page and one record more of a list by `last_seen`: (seq, newest_first, id).

    Each type, source or malware name has its own list in that order; several are merged.
    """
    most = query.limit + 1
    pages = [_list_page([*filters, *_after_lane(query.after, table)], table, most) for table, filters in _lanes(query)]
    if not pages:
        return _NONE_LISTED
    if len(pages) == 1:
        return pages[0]
    text = " UNION ALL ".join(f"SELECT * FROM ({page.text})" for page in pages)
    parameters = tuple(parameter for page in pages for parameter in page.parameters)
    return Sql(f"SELECT DISTINCT * FROM ({text}) ORDER BY newest_first, id LIMIT ?", (*parameters, most))


def ioc_walk(query: IocQuery) -> Sql:
    """Return one page and one record more of a list in any order, read from the index in that order.

    Costs little where much of the store matches.
    """
    order, most = query.sort or "last_seen", query.limit + 1
    if order == "sources":
        return _walk_by_sources(query)
    columns, index = _ORDERS[order]
    after = [] if query.after is None else [places.after(query.after, order)]
    where = filtering.where([*filtering.inline(query.filter), *after])
    return Sql(
        f"SELECT seq, {_names(columns)} FROM iocs AS i INDEXED BY {index}{where.text} ORDER BY {columns} LIMIT ?",
        (*where.parameters, most),
    )


def ioc_sorted(query: IocQuery, matching: Sql | None = None) -> Sql:
    """Return one page and one record more of a list or search in any order, sorted; `matching` selects `seq` of what it
    finds, where that is known.

    Costs little where little matches.
    """
    order = query.sort or "last_seen"
    columns, matching = _ORDERS[order][0], matching or matching_seqs(query)
    where = filtering.where([] if query.after is None else [places.after(query.after, order)])
    found = f"""SELECT i.seq AS seq, -i.sources AS fewest_last, i.newest_first, i.first_seen, i.added_at, i.id AS id
        FROM ({matching.text}) AS matching CROSS JOIN iocs AS i ON i.seq = matching.seq"""
    return Sql(
        f"SELECT seq, {_names(columns)} FROM ({found}){where.text} ORDER BY {columns} LIMIT ?",
        (*matching.parameters, *where.parameters, query.limit + 1),
    )


def is_of_ids_alone(query: IocQuery) -> bool:
    """Return whether a query asks for the first page of some ids and nothing else, as every look-up does."""
    is_first = query.text is None and query.after is None and query.sort is None
    return is_first and query.ids is not None and query.filter == ANY


def ioc_of_ids(query: IocQuery) -> Sql:
    """Do as `ioc_sorted` for a query that `is_of_ids_alone`."""
    ids = query.ids or ()
    asked = ", ".join("?" * len(ids))
    return Sql(
        f"SELECT seq, newest_first, id FROM iocs AS i WHERE i.id IN ({asked}) ORDER BY newest_first, id LIMIT ?",
        (*map(id_bytes, ids), query.limit + 1),
    )


def ioc_stream(query: IocQuery) -> Sql:
    """Return all records of a list or search as rows of `IOC_COLUMNS`, in order."""
    query = replace(query, limit=_ALL, after=None)
    if query.text is not None and query.sort is None:
        every = ioc_search(query, query.text)
    elif query.text is not None or query.ids is not None or query.sort == "sources":
        every = ioc_sorted(query)
    else:
        every = ioc_walk(query)
    return Sql(
        f"""SELECT {IOC_COLUMNS} FROM ({every.text}) AS listed CROSS JOIN iocs AS i ON i.seq = listed.seq
            CROSS JOIN articles AS a ON a.seq = i.article_seq""",
        every.parameters,
    )


def is_read_in_order(query: IocQuery) -> bool:
    """Return whether `ioc_list` reads little more than the page of a query."""
    only = query.filter
    return query.sort in (None, "last_seen") and only.min_sources < 2 and only.added_since is None


def ioc_list_total(query: IocQuery) -> Sql:
    """Return how many records the whole list has."""
    if is_counted(query):
        table, where = counted(query)
        return Sql(f"SELECT coalesce(sum(iocs), 0) FROM {table}{where.text}", where.parameters)
    if {"warned", "false_positive"} & {*query.filter.exclude}:
        return _total_but_excluded(query)
    lanes = _lanes(query)
    counts = [_lane_count(filters, table) for table, filters in lanes]
    parameters = tuple(parameter for one in counts for parameter in one.parameters)
    whole = Sql(f"SELECT {' + '.join(f'({one.text})' for one in counts) or 0}", parameters)
    if _are_apart(query):
        return whole
    found, names = matching_seqs(query), query.filter.folded_families
    apart = Sql(f"SELECT count(*) FROM ({found.text})", found.parameters)
    if query.filter.tags or query.filter.sources:
        return apart
    # Of the names of a family mostly one is stored, so that no indicator stands in two of their lists.
    stored = f"SELECT count(*) FROM malware_names WHERE name IN ({', '.join('?' * len(names))})"
    return Sql(
        f"SELECT CASE WHEN ({stored}) < 2 THEN ({whole.text}) ELSE ({apart.text}) END",
        (*names, *whole.parameters, *apart.parameters),
    )


def _are_apart(query: IocQuery) -> bool:
    """Return whether no indicator stands in two of a query's lanes: of types and times none does."""
    return len({*query.filter.tags} or {*query.filter.sources} or query.filter.folded_families) < 2


def _lane_count(filters: Sequence[Sql], table: str) -> Sql:
    where = filtering.where(filters)
    return Sql(f"SELECT count(*) FROM {_from(table, where.text)}{where.text}", where.parameters)


def _total_but_excluded(query: IocQuery) -> Sql:
    """Return the total of a list, from that of the list with what is left out: there is little of that."""
    only = query.filter
    others = replace(only, exclude=tuple(one for one in only.exclude if one == "expired"))
    excluded = " UNION ".join(_EXCLUDED[one] for one in only.exclude if one in _EXCLUDED)
    whole, where = (
        ioc_list_total(replace(query, filter=others)),
        filtering.where([*filtering.inline(others), *_of_ids(query)]),
    )
    return Sql(
        f"""SELECT ({whole.text}) - (
            SELECT count(*) FROM ({excluded}) AS excluded CROSS JOIN iocs AS i ON i.seq = excluded.seq{where.text}
        )""",
        (*whole.parameters, *where.parameters),
    )


def is_counted(query: IocQuery) -> bool:
    """Return whether the numbers of a query are kept: those of all indicators, of types, and of a source name."""
    kept = IocFilter(types=query.filter.types, sources=query.filter.sources[:1])
    return query.text is None and query.ids is None and query.filter == kept


def is_unfiltered(query: IocQuery) -> bool:
    """Return whether a list asks for all indicators, or a search for all that its text matches."""
    return query.ids is None and query.filter == ANY


def is_of_spans(query: IocQuery) -> bool:
    """Return whether a list asks for types, times and statuses alone, whatever it leaves out."""
    only = query.filter
    bare = IocFilter(
        only.types, since=only.since, until=only.until, statuses=only.statuses, exclude=only.exclude, now=only.now
    )
    return query.text is None and query.ids is None and only == bare


def excluded(only: IocFilter) -> Sql | None:
    """Select `seq` of what types, times and statuses let through and a filter leaves out for standing on a warning list
    or for its votes.
    """
    names = [one for one in only.exclude if one in _EXCLUDED]
    if not names:
        return None
    spans = filtering.where(filtering.of_spans(only, filtering.COLUMNS["iocs"]))
    union = " UNION ".join(_EXCLUDED[one] for one in names)
    return Sql(
        f"SELECT i.seq AS seq FROM ({union}) AS excluded CROSS JOIN iocs AS i ON i.seq = excluded.seq{spans.text}",
        spans.parameters,
    )


def counted(query: IocQuery) -> tuple[str, Sql]:
    """Return the table of numbers by type and week, and the condition, for a query that `is_counted`."""
    filters = filtering.of_spans(query.filter, filtering.COLUMNS[""])
    if not query.filter.sources:
        return "ioc_counts", filtering.where(filters)
    return "source_weeks", filtering.where([Sql(OF_SOURCE, query.filter.sources), *filters])


def ioc_search(query: IocQuery, text: SearchText) -> Sql:
    """Return one page and one record more: (seq, class, fewest_last, newest_first, id)."""
    matching, after, class_ = _matching(query, text), places.after_rank(query.after), _class(text)
    filters = filtering.where(asked_of_matches(query.filter, text))
    # CROSS JOIN keeps the engine from beginning with the larger table.
    ranked = f"""
        SELECT seq, {class_.text} AS class, -sources AS fewest_last, newest_first, id
        FROM ({matching.text}) AS matching CROSS JOIN iocs AS i USING (seq){filters.text}"""
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
        pages = [_lane(filters, name) for name, filters in _lanes(query)]
        joint = " UNION ALL " if _are_apart(query) else " UNION "
        parameters = tuple(parameter for page in pages for parameter in page.parameters)
        return Sql(joint.join(page.text for page in pages), parameters) if pages else _NOTHING
    matching, asked = _matching(query, query.text), asked_of_matches(query.filter, query.text)
    if not asked:
        return matching
    where = filtering.where(asked)
    # CROSS JOIN tries each match as it is found, so that whoever needs only some stops early.
    return Sql(
        f"SELECT i.seq AS seq FROM ({matching.text}) AS found CROSS JOIN iocs AS i ON i.seq = found.seq{where.text}",
        (*matching.parameters, *where.parameters),
    )


def article_list(query: ArticleQuery) -> Sql:
    """Return one page and one record more: (seq, newest_first, id)."""
    after = [] if query.after is None else [places.after_newest(query.after, str)]
    where = filtering.where([*_article_filters(query), *after])
    return Sql(
        f"SELECT seq, newest_first, id FROM articles{where.text} ORDER BY newest_first, id LIMIT ?",
        (*where.parameters, query.limit + 1),
    )


def article_total(query: ArticleQuery) -> Sql:
    """Return how many articles the whole list or search has."""
    where = filtering.where(_article_filters(query))
    return Sql(f"SELECT count(*) FROM articles{where.text}", where.parameters)


_OF_MANY = filtering.OF_MANY
# What stands for an indicator in each table that lists are read from, other than that of indicators itself.
_SEQ = MappingProxyType({"source_lists": "l.ioc_seq", "malware_lists": "l.ioc_seq", "ioc_tags": "l.ioc_seq"})
_ALIAS = MappingProxyType({"source_lists": "l", "malware_lists": "l"})


def _lanes(query: IocQuery) -> list[tuple[str, list[Sql]]]:
    """Return the tables, with conditions, that a list is read from side by side: no one of them sorts."""
    only = query.filter
    if query.ids is not None:
        return [("iocs", [*filtering.inline(only), *_of_ids(query)])] if only.spans else []
    if only.tags:
        # Few have one, so that they are sorted.
        table, keys = "ioc_tags", [Sql(filtering.OF_TAG, (tag,)) for tag in dict.fromkeys(only.tags)]
        rest = [*filtering.of_sources(only), *filtering.of_malware(only), *filtering.exact(replace(only, tags=()))]
    elif only.sources:
        table, keys = "source_lists", [Sql(OF_SOURCE, (name,)) for name in dict.fromkeys(only.sources)]
        rest = [*filtering.of_malware(only), *filtering.exact(only)]
    elif only.malware:
        table, keys, rest = (
            "malware_lists",
            [Sql(filtering.OF_MALWARE, (name,)) for name in only.folded_families],
            filtering.exact(only),
        )
    elif only.tlps:
        table, keys = "iocs", [filtering.of_tlps("i.tlp", [tlp]) for tlp in dict.fromkeys(only.tlps)]
        rest = filtering.exact(replace(only, tlps=()))
    elif only.min_sources > 1 and only.since is None and only.until is None:
        # Fewer are of several sources than of most types or statuses.
        return [(_OF_MANY, [*filtering.of_spans(only, filtering.COLUMNS["iocs"]), *filtering.exact(only)])]
    else:
        table, keys, rest = "iocs", [], filtering.exact(only)
    spans = [filtering.of_span(span, filtering.COLUMNS[table]) for span in _single(only.spans)]
    if len(spans) * max(1, len(keys)) > _MOST_LANES:
        spans = [filtering.of_spans(only, filtering.COLUMNS[table])]
    every = [[key] for key in keys] or [[]]
    return [(table, [*key, *span, *rest]) for key, span in product(every, spans)]


def _after_lane(after: Position | None, table: str) -> list[Sql]:
    if after is None:
        return []
    of, (newest, id) = _ALIAS.get(table, "i"), after.values
    return [Sql(f"({of}.newest_first, {of}.id) > (?, ?)", (-int(newest), id_bytes(str(id))))]


def _single(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with one type each, so that each is read from an index."""
    return [replace(span, types=(type,)) for span in spans for type in span.types] + [
        span for span in spans if not span.types
    ]


def _lane(filters: Sequence[Sql], table: str) -> Sql:
    where = filtering.where(filters)
    return Sql(
        f"SELECT {_SEQ.get(table, 'i.seq')} AS seq FROM {_from(table, where.text)}{where.text}", where.parameters
    )


def _list_page(filters: Sequence[Sql], table: str, most: int) -> Sql:
    where, of = filtering.where(filters), _ALIAS.get(table, "i")
    return Sql(
        f"SELECT {_SEQ.get(table, 'i.seq')} AS seq, {of}.newest_first AS newest_first, {of}.id AS id"
        f" FROM {_from(table, where.text)}{where.text} ORDER BY {of}.newest_first, {of}.id LIMIT ?",
        (*where.parameters, most),
    )


def _from(table: str, where: str) -> str:
    if table == "iocs":
        return "iocs AS i"
    if table == _OF_MANY:
        return f"iocs AS i INDEXED BY {table}"
    needs_record = table == "ioc_tags" or "i." in where
    return f"{table} AS l CROSS JOIN iocs AS i ON i.seq = l.ioc_seq" if needs_record else f"{table} AS l"


def _of_ids(query: IocQuery) -> list[Sql]:
    if query.ids is None:
        return []
    return [Sql(f"i.id IN ({', '.join('?' * len(query.ids))})", tuple(map(id_bytes, query.ids)))]


def _walk_by_sources(query: IocQuery) -> Sql:
    """Return a page by number of sources: what several name has an index; what one names stands in the order of all."""
    filters, most, after = filtering.inline(query.filter), query.limit + 1, query.after
    sources, newest, id = (0, 0, "") if after is None else after.values
    columns = "seq, -sources AS fewest_last, newest_first, id"
    many, one = list(filters), list(filters)
    if after is not None:
        place = (-int(sources), -int(newest), id_bytes(str(id)))
        many.append(Sql("i.sources <= ? AND (-i.sources, i.newest_first, i.id) > (?, ?, ?)", (int(sources), *place)))
    if after is not None and int(sources) < 2:
        one.append(Sql("(i.newest_first, i.id) > (?, ?)", place[1:]))
    of_many, of_one = filtering.where([Sql("i.sources > 1"), *many]), filtering.where([Sql("i.sources = 1"), *one])
    text = f"""
        SELECT * FROM (
            SELECT {columns} FROM iocs AS i INDEXED BY iocs_of_many_sources{of_many.text}
            ORDER BY sources DESC, newest_first, id LIMIT ?
        ) UNION ALL SELECT * FROM (
            SELECT {columns} FROM iocs AS i INDEXED BY iocs_newest{of_one.text} ORDER BY newest_first, id LIMIT ?
        )"""
    parameters = (*of_many.parameters, most, *of_one.parameters, most)
    return Sql(f"SELECT * FROM ({text}) ORDER BY fewest_last, newest_first, id LIMIT ?", (*parameters, most))


def _names(columns: str) -> str:
    return columns.replace(" DESC", "")


_NOTHING = Sql("SELECT NULL AS seq WHERE FALSE")
_NONE_LISTED = Sql("SELECT NULL AS seq, NULL AS newest_first, NULL AS id WHERE FALSE")
_EXCLUDED = MappingProxyType(
    {
        "warned": "SELECT seq FROM iocs WHERE warned",
        "false_positive": "SELECT i.seq FROM votes AS v CROSS JOIN iocs AS i ON i.id = v.ioc_id",
    }
)


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


def asked_of_matches(only: IocFilter, text: SearchText) -> list[Sql]:
    """Return what a search asks of each of its matches `i`; the rest restricts what matches."""
    if text.finds_addresses_alone:
        # To ask each address of a large network for its type would take longer than to find them all.
        only = replace(only, types=("ip",) if only.statuses or only.exclude else ())
    return [
        *filtering.of_spans(only, filtering.COLUMNS["iocs"]),
        *filtering.exact(replace(only, added_since=None, tags=())),
    ]


def _matching(query: IocQuery, text: SearchText) -> Sql:
    """Select `seq` of what matches the text, the sources, the malware, the tags, the ids and `added_since`: as sets,
    because the engine would otherwise try each id with each match.
    """
    only = query.filter
    if text.finds_addresses_alone and only.types and "ip" not in only.types:
        return _NOTHING
    sets = [matching_iocs(text.clauses, ANYWHERE, text.exact_ids), *filtering.listed_sets(only)]
    if query.ids is not None:
        sets.append(of_ids(query.ids))
    if only.added_since is not None:
        sets.append(Sql(filtering.ADDED_SINCE, (to_milliseconds(only.added_since),)))
    parameters = tuple(parameter for one in sets for parameter in one.parameters)
    return Sql(" INTERSECT ".join(f"SELECT seq FROM ({one.text})" for one in sets), parameters)


def _article_filters(query: ArticleQuery) -> list[Sql]:
    filters = []
    if query.tags:
        names = ", ".join("?" * len(query.tags))
        filters.append(Sql(f"seq IN (SELECT article_seq FROM article_tags WHERE tag IN ({names}))", query.tags))
    if query.tlps:
        filters.append(filtering.of_tlps("tlp", query.tlps))
    if query.source is not None:
        filters.append(Sql("source_name = ?", (query.source,)))
    if query.text is not None:
        matching = matching_articles(query.text.clauses)
        filters.append(Sql(f"seq IN ({matching.text})", matching.parameters))
    return filters
