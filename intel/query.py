"""How a search is read: from what a person typed to clauses that every store answers alike.

    parse_search('hxxps://evil[.]example "loader targets"')  ->  SearchText(clauses=(Clause…, Clause…), exact=())

Every clause must match; a clause matches by any of its alternatives. Nothing but quotes and a trailing `*` is an
operator, so that no input is an error except one that is too long or holds a NUL.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeVar

from intel.addresses import packed_address
from intel.ageing import Status, seen_between
from intel.canonical import readings, refang
from intel.errors import InvalidQuery
from intel.ids import ioc_id
from intel.names import malware_family, malware_name, malware_names, spelling_key
from intel.records import IOC_TYPES, Change, Facets
from intel.tlp import Tlp
from intel.words import encode_word, encoded_words, words

T = TypeVar("T")

LONGEST_SEARCH = 512
LONGEST_VALUE = 2_048
_PUNYCODE_LABEL = re.compile(r"xn--[a-z0-9-]{1,59}")
_QUOTED = re.compile(r'"([^"]*)"')
# A reading of these types names a place that other values stand on: a domain's sub-domains, URLs and mailboxes.
_HOST_TYPES = ("domain", "ip")


@dataclass(frozen=True, slots=True)
class Network:
    """Addresses from `first` to `last`, both included, as text of one IP version."""

    first: str
    last: str
    text: str


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that must match, by any of its alternatives.

    `phrases`: sequences of encoded words that stand side by side in the value's own words or in an article text;
    `prefix`: the one word of the one phrase is the beginning of a word. `hosts`: the value stands on that host or
    below it.
    `ids`: the indicator is one of these, which are those of `names` (type, value). `network`: the indicator is an
    address in it.
    """

    phrases: tuple[tuple[str, ...], ...] = ()
    prefix: bool = False
    hosts: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    network: Network | None = None
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchText:
    """A search as it was read. `exact` holds the indicators (type, value) that the whole of it may name."""

    text: str
    clauses: tuple[Clause, ...]
    exact: tuple[tuple[str, str], ...]

    @property
    def exact_ids(self) -> tuple[str, ...]:
        return tuple(ioc_id(type, value) for type, value in self.exact)

    @property
    def finds_addresses_alone(self) -> bool:
        """Return whether nothing but addresses can match, as where a network is asked for."""
        networks = (Clause(network=clause.network) for clause in self.clauses if clause.network is not None)
        return not self.exact and any(one in self.clauses for one in networks)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page of a list ended: the sort values of its last record, as every store orders them."""

    values: tuple[int | str, ...]


Exclusion = Literal["warned", "expired", "false_positive"]
Sort = Literal["last_seen", "first_seen", "added_at", "sources"]
EXCLUSIONS: Final[tuple[Exclusion, ...]] = ("warned", "expired", "false_positive")
SORTS: Final[tuple[Sort, ...]] = ("last_seen", "first_seen", "added_at", "sources")
_STATUSES: Final[tuple[Status, ...]] = ("active", "ageing", "expired")


@dataclass(frozen=True, slots=True)
class Span:
    """Types (none: all), and when an indicator of them was last seen, both ends included."""

    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class IocFilter:
    """What an indicator must be, beside the words of a search; a member that is left out asks for nothing.

    `types`, `sources` (source names of its articles), `malware` (names in its record, in any case; another name of a
    family is as good), `tags`, `tlps` and `statuses`: any of these. `since` and `until` bound `last_seen`,
    `added_since` bounds `added_at`, all inclusive.
    `exclude` leaves out what stands on a warning list, what has expired, and what has votes as a false positive.
    `min_sources` counts independent sources. `now` is the time from which statuses are told; it must be there where any
    is asked for.
    """

    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    malware: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tlps: tuple[Tlp, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    added_since: datetime | None = None
    statuses: tuple[Status, ...] = ()
    exclude: tuple[Exclusion, ...] = ()
    min_sources: int = 1
    now: datetime | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """Return every name of the families that `malware` names, each once; what no list has stands for itself."""
        named = ((name, *malware_family(malware_name(name) or name)) for name in self.malware)
        return tuple(dict.fromkeys(each for names in named for each in names))

    @property
    def folded_families(self) -> tuple[str, ...]:
        """Return `families` casefolded, each once."""
        return tuple(dict.fromkeys(name.casefold() for name in self.families))

    @property
    def spans(self) -> tuple[Span, ...]:
        """Types, times and statuses as spans, of which an indicator must be in one; without any, nothing matches."""
        statuses = [one for one in self.statuses or _STATUSES if one != "expired" or "expired" not in self.exclude]
        if len(statuses) == len(_STATUSES):
            return (Span(tuple(dict.fromkeys(self.types)), self.since, self.until),)
        assert self.now is not None  # noqa: S101 - statuses are asked for with the time from which they are told
        types_in: dict[tuple[datetime | None, datetime | None], list[str]] = {}
        for type in dict.fromkeys(self.types or IOC_TYPES):
            for since, until in _joined(type, statuses, self.now):
                within = _latest(since, self.since), _earliest(until, self.until)
                types_in.setdefault(within, []).append(type)
        return tuple(Span(tuple(types), *within) for within, types in types_in.items())


def _joined(type: str, statuses: list[Status], now: datetime) -> list[tuple[datetime | None, datetime | None]]:
    """Return the spans of `last_seen` that have these statuses; statuses next to each other make one span."""
    spans = {status: span for status in statuses if (span := seen_between(type, status, now)) is not None}
    if "ageing" in spans and "active" in spans:
        spans["active"] = (spans.pop("ageing")[0], None)
    if "ageing" in spans and "expired" in spans:
        spans["expired"] = (None, spans.pop("ageing")[1])
    return list(spans.values())


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(filter(None, (one, other)), default=None)


def _earliest(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(filter(None, (one, other)), default=None)


ANY: Final = IocFilter()
# How many items a page has where nobody says it.
USUAL_LIMIT: Final = 20


@dataclass(frozen=True, slots=True)
class IocQuery:
    """A list (no `text`) or a search of what the filter lets through; `ids` restricts it to these indicators.

    `sort` None: a list by `last_seen`, a search by class of match. Ties of `first_seen`, `last_seen` and `added_at`
    stand by id, those of `sources` by `last_seen`, then by id. `facets`: the first page tells how all of it divides,
    also with each of `facet_filters` instead of its own.
    """

    text: SearchText | None = None
    filter: IocFilter = ANY
    ids: tuple[str, ...] | None = None
    limit: int = USUAL_LIMIT
    after: Position | None = None
    sort: Sort | None = None
    facets: bool = False
    facet_filters: tuple[IocFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangePosition:
    """How far a follower of the change feed has come.

    It was told every change up to `number`; when it last had no more to ask for, it had come to `complete`.
    """

    number: int = 0
    complete: int = 0


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """The changes after a position, of what the filter lets through as it is now."""

    after: ChangePosition = ChangePosition()
    limit: int = 100
    filter: IocFilter = ANY


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Changes in order; `next` is the position after them, and with `more` there is something after it already."""

    items: tuple[Change, ...]
    next: ChangePosition
    more: bool


@dataclass(frozen=True, slots=True)
class AddedPosition:
    """A place in the order in which indicators were added: after the one of that number, at that time."""

    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class AddedPage:
    """Ids of indicators in the order in which they were added; `next` is the place after them."""

    ids: tuple[str, ...]
    next: AddedPosition
    more: bool


@dataclass(frozen=True, slots=True)
class ArticleQuery:
    """A list or search of articles, newest first, that hold every clause of `text`, come from `source` and have any of
    `tags` and any of `tlps`.
    """

    text: SearchText | None = None
    source: str | None = None
    limit: int = 20
    after: Position | None = None
    tags: tuple[str, ...] = ()
    tlps: tuple[Tlp, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """What was weighed in an article, in order of appearance: only what was kept or dropped, only one type or rule.

    The page begins after the place `after` and after the first `skip` that match.
    """

    kept: bool | None = None
    type: str | None = None
    limit: int = 20
    after: int = -1
    skip: int = 0
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class CandidatePage:
    """Candidates, each with its place; `total` match, of `count` in all `kept` were kept."""

    items: tuple[tuple[int, dict[str, Any]], ...]
    total: int
    more: bool
    kept: int
    count: int


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list; `total` is exact and None on later pages, `next` is None on the last page, `facets` are those
    that an `IocQuery` asks for, `other_facets` those with each of its `facet_filters`.
    """

    items: tuple[T, ...]
    total: int | None
    next: Position | None
    facets: Facets | None = None
    other_facets: tuple[Facets, ...] = ()


def parse_search(raw: str) -> SearchText | None:
    """Read a search; return None if it is blank. Raises InvalidQuery over 512 characters or with a NUL."""
    if len(raw) > LONGEST_SEARCH:
        raise InvalidQuery("q", f"must have at most {LONGEST_SEARCH} characters")
    if "\0" in raw:
        raise InvalidQuery("q", "must not hold a NUL character")
    text = unicodedata.normalize("NFKC", raw.encode(errors="replace").decode()).strip()
    if not text:
        return None
    phrases = [clause for quoted in _QUOTED.findall(text) if (clause := _phrase(quoted))]
    unquoted = refang(_QUOTED.sub(" ", text))
    loose = [clause for chunk in unquoted.split() for clause in _read_chunk(chunk)]
    exact = () if _is_prefix(text) else readings(text)
    clauses = tuple(dict.fromkeys(phrases + loose))
    return SearchText(text, clauses if len(clauses) < 2 else _with_family(clauses, exact), exact)


def _with_family(clauses: tuple[Clause, ...], exact: tuple[tuple[str, str], ...]) -> tuple[Clause, ...]:
    """Make words that together are a name of a family find what its other names find."""
    names = [tuple(map(encode_word, words(name))) for name in _told_apart(exact)]
    found = tuple(name for name in names if name)
    return tuple(replace(clause, phrases=tuple(dict.fromkeys(clause.phrases + found))) for clause in clauses)


def _told_apart(found: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the names of malware that name nothing else in titles: not what a family is also called, if it is a word
    (`Agenda`).
    """
    names = [value for type, value in found if type == "malware"]
    ordinary = malware_names().ordinary if names[1:] else ()
    return names[:1] + [name for name in names[1:] if " " in name or spelling_key(name) not in ordinary]


def is_lookable(raw: str) -> bool:
    """Tell whether `exact_value` takes a value."""
    return len(raw) <= LONGEST_VALUE and "\0" not in raw


def exact_value(raw: str) -> tuple[tuple[str, str], ...]:
    """Return the indicators that a value given for exact look-up may name. Raises InvalidQuery as `parse_search`
    does.
    """
    if len(raw) > LONGEST_VALUE:
        raise InvalidQuery("value", f"must have at most {LONGEST_VALUE} characters")
    if "\0" in raw:
        raise InvalidQuery("value", "must not hold a NUL character")
    return readings(raw if raw.isascii() else raw.encode(errors="replace").decode())


def _phrase(quoted: str) -> Clause | None:
    found = tuple(map(encode_word, words(quoted)))
    return Clause(phrases=(found,)) if found else None


def _read_chunk(chunk: str) -> tuple[Clause, ...]:
    """Return the clauses of a piece without white space."""
    if network := _read_network(chunk):
        return (Clause(network=network),)
    is_prefix = _is_prefix(chunk)
    found = () if is_prefix else readings(chunk)
    if found:
        return (_indicator(chunk, found),)
    clauses = [Clause(phrases=((encode_word(word),),)) for word in words(chunk)]
    if is_prefix:
        clauses[-1] = replace(clauses[-1], prefix=True)
    return tuple(clauses)


def _is_prefix(text: str) -> bool:
    return text.endswith("*") and bool(words(text[-2:]))


def _indicator(chunk: str, found: tuple[tuple[str, str], ...]) -> Clause:
    """Return the clause of a piece that reads as an indicator: as itself, as a host, or as words side by side."""
    values = [value for type, value in found if type != "malware"] + _told_apart(found)
    spellings = [chunk, *values, *filter(None, (_without_scheme(*name) for name in found))]
    phrases = (tuple(map(encode_word, words(spelling))) for spelling in spellings)
    return Clause(
        phrases=tuple(dict.fromkeys(phrase for phrase in phrases if phrase)),
        hosts=tuple(value for type, value in found if type in _HOST_TYPES),
        ids=tuple(ioc_id(type, value) for type, value in found),
        names=found,
    )


def _without_scheme(type: str, value: str) -> str:
    """Return the clause for a URL on a host whatever its scheme, because texts write others or break it (`hxxp`)."""
    rest = value.partition("://")[2] if type == "url" else ""
    return rest if len(words(rest)) > len(words(_host_of(type, value))) else ""


def _read_network(chunk: str) -> Network | None:
    address, slash, _ = chunk.partition("/")
    if not slash or not (address[:1].isdigit() or ":" in address):
        return None
    try:
        network = ipaddress.ip_network(chunk, strict=False)
    except ValueError:
        return None
    return Network(str(network[0]), str(network[-1]), str(network))


def host_names(type: str, value: str) -> tuple[str, ...]:
    """Return the hosts by which a value is found: its own, and that one's parent domains of two labels or more."""
    host = _host_of(type, value)
    if not host:
        return ()
    if _is_address(host):
        return (host,)
    names, parent = [host], host.partition(".")[2]
    while "." in parent:
        names.append(parent)
        parent = parent.partition(".")[2]
    return tuple(names)


def _is_address(host: str) -> bool:
    return (host[-1].isdigit() or ":" in host) and packed_address(host) is not None


def _host_of(type: str, value: str) -> str:
    if type in _HOST_TYPES:
        return value
    if type == "email":
        return value.rpartition("@")[2]
    if type == "url":
        # Thrice in half the time of a pattern.
        ahead = value.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0]
        authority = ahead.rpartition("@")[2]
        if authority.startswith("["):
            return authority[1:].partition("]")[0]
        return authority.partition(":")[0]
    return ""


def value_words(type: str, value: str) -> tuple[str, ...]:
    """Return a value's words as stores index them; of an international name also those of its Unicode spelling."""
    as_it_is = encoded_words(value)
    if "xn--" in value and type in ("domain", "url", "email"):
        return as_it_is, encoded_words(_PUNYCODE_LABEL.sub(_unicode_label, value))
    return (as_it_is,)


def _unicode_label(match: re.Match[str]) -> str:
    try:
        return match.group().encode("ascii").decode("idna")
    except UnicodeError:
        return match.group()
