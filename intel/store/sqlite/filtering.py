"""What a filter asks of an indicator, as conditions of statements."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from intel.query import IocFilter, Span
from intel.store.sqlite.matching import Sql
from intel.times import to_milliseconds
from intel.tlp import Tlp, level_of

OF_SOURCE = "source_seq = (SELECT seq FROM sources WHERE name = ?)"
OF_TAG = "tag = ?"
ADDED_SINCE = "SELECT seq FROM iocs WHERE added_at >= ?"
# The index of what several sources name.
OF_MANY = "iocs_of_many_sources"
OF_MALWARE = "malware_seq = (SELECT seq FROM malware_names WHERE name = ?)"
# The columns of type and time, by the table that a list is read from.
COLUMNS = MappingProxyType(
    {
        "": ("type", "newest_first"),
        "iocs": ("i.type", "i.newest_first"),
        "source_lists": ("l.type", "l.newest_first"),
        "malware_lists": ("i.type", "l.newest_first"),
        "ioc_tags": ("i.type", "i.newest_first"),
    }
)


def asked_of_each(only: IocFilter) -> Sql:
    """Return all that a filter asks of an indicator `i`, as further conditions of a statement."""
    condition = all_true(inline(only))
    return Sql(f" AND {condition.text}" if condition.text else "", condition.parameters)


def removed_of(only: IocFilter) -> Sql:
    """Return what a filter asks of indicators that are removed, as a further condition: their type is all that is
    known.
    """
    asked = of_span(Span(only.types), COLUMNS[""])
    return Sql(f" AND {asked[0].text}", asked[0].parameters) if asked else Sql("")


def inline(only: IocFilter) -> list[Sql]:
    """Return all that a filter asks of an indicator `i`; lists of sources and malware are asked for it by their key."""
    return [*of_spans(only, COLUMNS["iocs"]), *exact(only), *of_malware(only), *of_sources(only)]


def of_sources(only: IocFilter) -> list[Sql]:
    """Return what a filter asks of the sources of an indicator `i`."""
    if not only.sources:
        return []
    asked = " OR ".join(f"({_LISTED.format('source_lists', OF_SOURCE)})" for _ in only.sources)
    return [Sql(f"({asked})", only.sources)]


def of_malware(only: IocFilter) -> list[Sql]:
    names = only.folded_families
    if not names:
        return []
    asked = " OR ".join(f"({_LISTED.format('malware_lists', OF_MALWARE)})" for _ in names)
    return [Sql(f"({asked})", names)]


def exact(only: IocFilter) -> list[Sql]:
    """Return what a filter asks of an indicator `i` beside type, time, source and malware."""
    filters = []
    if only.tags:
        filters.append(_tagged(only))
    if only.tlps:
        filters.append(of_tlps("i.tlp", only.tlps))
    if only.added_since is not None:
        filters.append(Sql("i.added_at >= ?", (to_milliseconds(only.added_since),)))
    if only.min_sources > 1:
        # Said twice for the index of what several sources name.
        filters.append(Sql("i.sources > 1 AND i.sources >= ?", (only.min_sources,)))
    if "warned" in only.exclude:
        filters.append(Sql("NOT i.warned"))
    if "false_positive" in only.exclude:
        filters.append(Sql("NOT EXISTS (SELECT 1 FROM votes AS v WHERE v.ioc_id = i.id)"))
    return filters


def _tagged(only: IocFilter) -> Sql:
    names = ", ".join("?" * len(only.tags))
    return Sql(f"EXISTS (SELECT 1 FROM ioc_tags AS t WHERE t.tag IN ({names}) AND t.ioc_seq = i.seq)", only.tags)


def of_tlps(column: str, tlps: Sequence[Tlp]) -> Sql:
    """Return that a column of levels holds any of these; said twice for its index, which leaves out what says none."""
    levels = tuple(map(level_of, dict.fromkeys(tlps)))
    asked = f"{column} IN ({', '.join('?' * len(levels))})" if len(levels) > 1 else f"{column} = ?"
    return Sql(f"{column} > 0 AND {asked}", levels)


def of_spans(only: IocFilter, columns: tuple[str, str]) -> list[Sql]:
    """Return types and times as one condition on these columns."""
    spans = [all_true(of_span(span, columns)) for span in only.spans]
    if len(spans) == 1:
        return [spans[0]] if spans[0].text else []
    text = " OR ".join(f"({span.text})" for span in spans)
    return [Sql(f"({text})" if text else "FALSE", tuple(one for span in spans for one in span.parameters))]


def of_span(span: Span, columns: tuple[str, str]) -> list[Sql]:
    type, newest_first = columns
    filters = []
    if len(span.types) == 1:
        filters.append(Sql(f"{type} = ?", span.types))
    elif span.types:
        filters.append(Sql(f"{type} IN ({', '.join('?' * len(span.types))})", span.types))
    if span.since is not None:
        filters.append(Sql(f"{newest_first} <= ?", (-to_milliseconds(span.since),)))
    if span.until is not None:
        filters.append(Sql(f"{newest_first} >= ?", (-to_milliseconds(span.until),)))
    return filters


def restricting_sets(only: IocFilter) -> list[Sql]:
    """Return selections of `seq`, each of all that one part of a filter lets through; types, times, statuses and what
    is left out restrict otherwise.
    """
    sets = listed_sets(only)
    if only.added_since is not None:
        sets.append(Sql(ADDED_SINCE, (to_milliseconds(only.added_since),)))
    if only.tlps:
        asked = of_tlps("tlp", only.tlps)
        sets.append(Sql(f"SELECT seq FROM iocs WHERE {asked.text}", asked.parameters))
    if only.min_sources > 1:
        of_many = f"SELECT seq FROM iocs INDEXED BY {OF_MANY} WHERE sources > 1 AND sources >= ?"
        sets.append(Sql(of_many, (only.min_sources,)))
    return sets


def listed_sets(only: IocFilter) -> list[Sql]:
    """Return a selection of `seq` each for the sources, the malware and the tags of a filter."""
    sets = []
    if only.sources:
        names = ", ".join("?" * len(only.sources))
        of_sources = f"source_seq IN (SELECT seq FROM sources WHERE name IN ({names}))"
        of_sources = OF_SOURCE if len(only.sources) == 1 else of_sources
        sets.append(Sql(f"SELECT ioc_seq AS seq FROM source_lists WHERE {of_sources}", only.sources))
    if folded := only.folded_families:
        names = ", ".join("?" * len(folded))
        of_malware = f"malware_seq IN (SELECT seq FROM malware_names WHERE name IN ({names}))"
        sets.append(Sql(f"SELECT ioc_seq AS seq FROM malware_lists WHERE {of_malware}", folded))
    if only.tags:
        names = ", ".join("?" * len(only.tags))
        sets.append(Sql(f"SELECT ioc_seq AS seq FROM ioc_tags WHERE tag IN ({names})", only.tags))
    return sets


def where(conditions: Sequence[Sql]) -> Sql:
    condition = all_true(conditions)
    return Sql(f" WHERE {condition.text}", condition.parameters) if conditions else condition


def all_true(conditions: Sequence[Sql]) -> Sql:
    parameters = tuple(parameter for condition in conditions for parameter in condition.parameters)
    return Sql(" AND ".join(condition.text for condition in conditions), parameters)


_LISTED = "EXISTS (SELECT 1 FROM {0} AS o WHERE o.{1} AND o.newest_first = i.newest_first AND o.id = i.id)"
