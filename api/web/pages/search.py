"""`/search`: indicators by words and filters, in the order asked for; without words, the newest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from starlette.responses import Response

from api.annotating import annotate
from api.filters import STATUSES, read_filter, read_sort
from api.parameters import unless_blank
from api.searching import iocs_suggested
from api.web.addresses import with_query
from api.web.exports import export, is_format
from api.web.hits import hits
from api.web.names import cve_names
from api.web.nothing_found import help_for
from api.web.visit import Visit
from api.web.weekly_bars import week_days
from intel.catalogues.actors import actor_names
from intel.errors import InvalidQuery
from intel.query import EXCLUSIONS, SORTS, IocFilter, IocQuery, Page, Position, parse_search
from intel.query_explanation import sentence
from intel.records import IOC_TYPES, Facets, Ioc
from intel.store import Store
from intel.tlp import LEVELS

_LONGEST_ACTOR = 80
_LIST = "page of iocs"
_ROWS = 50
_SOURCES_SHOWN = 12
_WEEKS_SHOWN = 12
_MALWARE_SHOWN = 8
_TAGS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as it stands in the page's address."""

    q: str = ""
    type: str = ""
    since: str = ""
    until: str = ""
    source: str = ""
    malware: str = ""
    tag: str = ""
    tlp: str = ""
    status: str = ""
    exclude: str = ""
    min_sources: str = ""
    sort: str = ""

    def members(self) -> dict[str, str]:
        return asdict(self)

    def address(self, **changes: str | int | None) -> str:
        """Return the address of this search with something else in it."""
        return with_query("/search", {**self.members(), **changes})

    @property
    def narrowed(self) -> bool:
        """Whether anything but the words narrows the search."""
        return any(value for name, value in self.members().items() if name not in ("q", "sort"))

    def unfiltered(self) -> str:
        """Return the address of the same words without any filter."""
        return with_query("/search", {"q": self.q, "sort": self.sort})

    @property
    def types(self) -> list[str]:
        return self.type.split(",") if self.type else []

    @property
    def excluded(self) -> list[str]:
        return self.exclude.split(",") if self.exclude else []

    def query(self, now: datetime) -> IocQuery:
        """Return the query; statuses are told from `now`. Raises InvalidQuery."""
        asked = self.members()
        text = parse_search(self.q) if self.q else None
        return IocQuery(text=text, filter=read_filter(asked, now), sort=read_sort(asked))


@dataclass(frozen=True, slots=True)
class Facet:
    """A type, source or week, how many results it has, and where these are; an empty name stands for all types."""

    name: str
    count: int
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Filters:
    """How the results divide; each facet counts as if nothing were chosen of its own kind."""

    types: tuple[Facet, ...]
    sources: tuple[Facet, ...]
    weeks: tuple[Facet, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a filter that is not counted, and where it leads; a chosen one leads back."""

    name: str
    address: str
    chosen: bool


async def show(visit: Visit) -> Response:
    asked, limit = read(visit.query), visit.limit(_ROWS)
    position, now = _position(visit, asked)
    query = replace(asked.query(now), limit=limit)
    store = visit.service.store
    if is_format(format := visit.query.get("format", "")):
        found = await store.iocs.find(replace(query, limit=visit.tier.results_cap))
        return await export(visit, format, found.items)
    freely = _freely(query)
    # Those of its own filter are told with the page.
    others = tuple(dict.fromkeys(only for only in freely if only != query.filter))
    page = await store.iocs.find(replace(query, after=position, facets=True, facet_filters=others))
    counted = dict(zip(others, page.other_facets, strict=False)) | ({query.filter: page.facets} if page.facets else {})
    noted = await annotate(store, page.items, visit.service.clock())
    nothing = position is None and not page.items
    return visit.page(
        "search.html",
        asked=asked,
        q=asked.q,
        page=page,
        hits=hits(page.items, noted, query.text),
        cve_names=await cve_names(store, page.items),
        limit=limit,
        read_as=sentence(query.text) if query.text else "",
        choices=_choices(asked, page.items),
        heads={name: _head(asked, name) for name in SORTS},
        filters=_filters(asked, *(counted[only] for only in freely)) if counted else None,
        suggestions=await _suggestions(store, asked, query) if nothing else [],
        help=await help_for(store, asked.q) if nothing and asked.q else None,
        totals=await store.articles.totals() if nothing else None,
        actor=await _actor(store, query),
        next_address=_next(visit, asked, page, limit, now),
        more_for_members=page.next is not None and visit.signed_in is None,
        later=position is not None,
    )


def read(query: Mapping[str, str]) -> Asked:
    """Return the parameters; a blank one counts as absent."""
    return Asked(**{name: (unless_blank(query.get(name)) or "").strip() for name in Asked.__dataclass_fields__})


def _choices(asked: Asked, shown: Sequence[Ioc]) -> dict[str, list[Choice]]:
    """Return what the filters beside the facets offer; of malware the names on this page."""
    named, levels = Counter(name for ioc in shown for name in ioc.malware), {ioc.tlp for ioc in shown}
    families = dict.fromkeys([asked.malware] if asked.malware else [])
    families |= dict.fromkeys(name for name, _ in named.most_common(_MALWARE_SHOWN))
    return {
        "malware": [_choice(asked, "malware", name) for name in families],
        "tag": [_choice(asked, "tag", tag) for tag in _tags(asked, shown)],
        "tlp": [_choice(asked, "tlp", level) for level in LEVELS if asked.tlp or level in levels],
        "status": [_choice(asked, "status", name) for name in STATUSES],
        "exclude": [_excluded(asked, name) for name in EXCLUSIONS],
        "min_sources": [_choice(asked, "min_sources", number) for number in ("2", "3", "5")],
    }


def _tags(asked: Asked, shown: Sequence[Ioc]) -> list[str]:
    """Return the tags on this page, most indicators first, and before them the one that is asked for."""
    counted = Counter(tag for ioc in shown for tag in ioc.tags).most_common(_TAGS_SHOWN)
    return list(dict.fromkeys([*([asked.tag] if asked.tag else []), *(tag for tag, _ in counted)]))


def _choice(asked: Asked, field: str, value: str) -> Choice:
    chosen = asked.members()[field] == value
    return Choice(value, asked.address(**{field: None if chosen else value}), chosen)


def _head(asked: Asked, name: str) -> Choice:
    """Return an order; a list without words that asks for none is in that of `last_seen`."""
    head = _choice(asked, "sort", name)
    return replace(head, chosen=head.chosen or (name == "last_seen" and not asked.q and not asked.sort))


def _excluded(asked: Asked, name: str) -> Choice:
    chosen = name in asked.excluded
    others = [one for one in asked.excluded if one != name] + ([] if chosen else [name])
    return Choice(name, asked.address(exclude=",".join(others)), chosen)


async def _suggestions(store: Store, asked: Asked, query: IocQuery) -> list[tuple[str, str]]:
    """Return other searches that may have been meant, each with its address."""
    return [(one, asked.address(q=one)) for one in await iocs_suggested(store, query.text)] if query.text else []


async def _actor(store: Store, query: IocQuery) -> str | None:
    """Return the threat actor that the words name."""
    if query.text is None or query.text.exact or len(query.text.text) > _LONGEST_ACTOR:
        return None
    return (await actor_names(store)).name_of(query.text.text)


def _freely(query: IocQuery) -> tuple[IocFilter, IocFilter, IocFilter]:
    """Return the filters that types, sources and weeks are counted with: without what is chosen of their own kind."""
    only = query.filter
    # Of a search that finds addresses alone the types are told already.
    types_told = query.text is not None and query.text.finds_addresses_alone and "ip" in only.types
    of_types = only if types_told else replace(only, types=())
    return of_types, replace(only, sources=()), replace(only, since=None, until=None)


def _filters(asked: Asked, types: Facets, sources: Facets, weeks: Facets) -> Filters:
    return Filters(_types(asked, types.types), _sources(asked, sources.sources), _weeks(asked, weeks.weeks))


def _types(asked: Asked, counts: Mapping[str, int]) -> tuple[Facet, ...]:
    everything = Facet("", sum(counts.values()), asked.address(type=None), not asked.type)
    shown = (type for type in IOC_TYPES if counts.get(type) or type in asked.types)
    return (everything, *(Facet(t, counts.get(t, 0), asked.address(type=t), t in asked.types) for t in shown))


def _sources(asked: Asked, counts: Mapping[str, int]) -> tuple[Facet, ...]:
    """Return the links of the types; the chosen one leads back to all of them."""
    return tuple(
        Facet(name, count, asked.address(source=None if name == asked.source else name), name == asked.source)
        for name, count in list(counts.items())[:_SOURCES_SHOWN]
    )


def _weeks(asked: Asked, counts: Mapping[str, int]) -> tuple[Facet, ...]:
    facets = []
    for week, count in list(counts.items())[:_WEEKS_SHOWN]:
        monday, sunday = week_days(week)
        chosen = (asked.since, asked.until) == (monday, sunday)
        since, until = (None, None) if chosen else (monday, sunday)
        facets.append(Facet(week, count, asked.address(since=since, until=until), chosen))
    return tuple(facets)


def _position(visit: Visit, asked: Asked) -> tuple[Position | None, datetime]:
    """Return where the page before ended, and the time from which statuses are told on all pages.

    Only for who is signed in, as paging on needs a key elsewhere.
    """
    cursor, now = visit.query.get("cursor"), visit.service.clock()
    if not cursor or visit.signed_in is None:
        return None, now
    before, position = visit.service.cursors.read(_LIST, cursor)
    began = before.pop("now", None)
    if before != asked.members():
        raise InvalidQuery("cursor", "belongs to another search")
    return position, datetime.fromisoformat(began) if began else now


def _next(visit: Visit, asked: Asked, page: Page[Ioc], limit: int, now: datetime) -> str | None:
    if page.next is None or visit.signed_in is None:
        return None
    cursor = visit.service.cursors.write(_LIST, asked.members() | {"now": now.isoformat()}, page.next)
    return asked.address(cursor=cursor, limit=visit.query.get("limit") and limit)
