"""The filters of lists of indicators: one set of parameters, described, read and kept in cursors in one place.

    @router.get("/iocs")
    @filtered
    async def list_iocs(request: Request, q: SearchParameter = None, *, filters: Asked) -> Response: ...

`Asked` holds the parameters as JSON values, so that a cursor can carry them; `read_filter` turns them into an
`IocFilter`. Saved searches, pages and the command line read theirs by it too: each member may be one text or several.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar, get_args

import orjson
from fastapi import Query

from api.models import FoundIocModel, IocType
from api.parameters import (
    AddedSinceParameter,
    CountParameter,
    SinceParameter,
    UntilParameter,
    read_since,
    read_text,
    read_until,
)
from intel.ageing import Status
from intel.errors import InvalidQuery
from intel.query import ANY, EXCLUSIONS, SORTS, IocFilter, Sort
from intel.records import IOC_TYPES
from intel.tags import read_tags
from intel.times import rfc3339
from intel.tlp import Tlp, read_tlp

Asked = dict[str, Any]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

_MOST_NAMES: Final = 50
_LARGEST_COUNT: Final = 1_000_000
STATUSES: Final[tuple[str, ...]] = get_args(Status)
MEMBERS: Final[tuple[str, ...]] = tuple(FoundIocModel.model_fields)

TypesParameter = Annotated[list[IocType] | None, Query(description="only these types; may be repeated")]
SourcesParameter = Annotated[
    list[str] | None, Query(description="only what these sources name, as articles show them; may be repeated")
]
MalwareParameter = Annotated[
    list[str] | None,
    Query(description="only what has these names, or others of their families, in its `malware`; may be repeated"),
]
TagsParameter = Annotated[list[str] | None, Query(description="only what has these tags; may be repeated")]
TlpsParameter = Annotated[
    list[str] | None, Query(description="only what has this TLP: `clear`, `green` or `amber`; may be repeated")
]
StatusesParameter = Annotated[list[Status] | None, Query(description="only what has this status; may be repeated")]
ExcludeParameter = Annotated[
    list[str] | None,
    Query(description=f"leave these out: one or more of {', '.join(EXCLUSIONS)}, comma-separated", examples=["warned"]),
]
MinSourcesParameter = Annotated[
    CountParameter, Query(ge=1, description="only what so many independent sources name", examples=[2])
]
SortParameter = Annotated[
    Sort | None, Query(description="by which member, highest or newest first; a search stands by how well it matches")
]
FieldsParameter = Annotated[
    list[str] | None, Query(description="only these members of each record, comma-separated", examples=["type,value"])
]

_FILTERS: Final[Mapping[str, Any]] = {
    "type": TypesParameter,
    "source": SourcesParameter,
    "malware": MalwareParameter,
    "tag": TagsParameter,
    "tlp": TlpsParameter,
    "since": SinceParameter,
    "until": UntilParameter,
    "added_since": AddedSinceParameter,
    "status": StatusesParameter,
    "exclude": ExcludeParameter,
    "min_sources": MinSourcesParameter,
}
FILTERS: Final = tuple(_FILTERS)
# Those that may be repeated.
SEVERAL: Final = ("type", "source", "malware", "tag", "tlp", "status", "exclude")
_SHOWN: Final[Mapping[str, Any]] = {"sort": SortParameter, "fields": FieldsParameter}


def filtered(endpoint: Endpoint) -> Endpoint:
    """Give an endpoint the filters, an order and a choice of members as query parameters: its argument `filters`."""
    return _with_parameters(endpoint, {**_FILTERS, **_SHOWN})


def filtered_in_order(endpoint: Endpoint) -> Endpoint:
    """Give an endpoint that has an order of its own the filters alone."""
    return _with_parameters(endpoint, _FILTERS)


def _with_parameters(endpoint: Endpoint, parameters: Mapping[str, Any]) -> Endpoint:
    own = inspect.signature(endpoint, eval_str=True)
    given = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in parameters.items()
    ]

    @functools.wraps(endpoint)
    async def answer(*args: Any, **values: Any) -> Any:
        asked = dict.fromkeys(parameters)
        for name in [name for name in values if name in parameters]:
            asked[name] = values.pop(name)
        return await endpoint(*args, filters=asked, **values)

    others = [parameter for name, parameter in own.parameters.items() if name != "filters"]
    answer.__signature__ = own.replace(parameters=[*others, *given])  # type: ignore[attr-defined]  # what FastAPI reads
    return answer  # type: ignore[return-value]  # the same with other arguments


def at(asked: Asked, now: datetime) -> Asked:
    """Return the filters of a first page with the time from which statuses are told on all its pages."""
    tells_age = asked.get("status") or "expired" in _listed("exclude", asked.get("exclude"), EXCLUSIONS)
    return asked | ({"now": now.isoformat()} if tells_age else {})


def read_filter(asked: Mapping[str, Any], now: datetime) -> IocFilter:
    """Return what is asked; statuses are told from its member `now`, else from the argument. Raises InvalidQuery."""
    if not any(map(asked.get, FILTERS)):
        return ANY
    told_at = datetime.fromisoformat(asked["now"]) if asked.get("now") else now
    exclude = _listed("exclude", asked.get("exclude"), EXCLUSIONS)
    statuses = _listed("status", asked.get("status"), STATUSES)
    return IocFilter(
        types=_listed("type", asked.get("type"), IOC_TYPES),
        sources=_names("source", asked.get("source")),
        malware=_names("malware", asked.get("malware")),
        tags=read_tag_filter(asked.get("tag")),
        tlps=read_tlp_filter(asked.get("tlp")),
        since=read_since(asked.get("since")),
        until=read_until(asked.get("until")),
        added_since=read_since(asked.get("added_since"), "added_since"),
        statuses=statuses,  # type: ignore[arg-type]  # one of STATUSES each
        exclude=exclude,  # type: ignore[arg-type]  # one of EXCLUSIONS each
        min_sources=_count("min_sources", asked.get("min_sources")),
        now=told_at if statuses or "expired" in exclude else None,
    )


def read_tag_filter(given: Any) -> tuple[str, ...]:
    """Return the tags of a filter. Raises InvalidQuery."""
    return read_tags(_names("tag", given))


def read_tlp_filter(given: Any) -> tuple[Tlp, ...]:
    """Return the levels of a filter. Raises InvalidQuery."""
    return tuple(dict.fromkeys(map(read_tlp, _names("tlp", given))))


def read_sort(asked: Mapping[str, Any]) -> Sort | None:
    """Return the order that is asked for; None for the usual one. Raises InvalidQuery."""
    words = {word.strip() for text in _texts(asked.get("sort")) for word in text.split(",")} - {""}
    if len(words) > 1 or not words <= set(SORTS):
        raise InvalidQuery("sort", f"must be one of {', '.join(SORTS)}")
    return next((sort for sort in SORTS if sort in words), None)


def read_fields(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the members of records that are asked for; none: all of them. Raises InvalidQuery."""
    return _listed("fields", asked.get("fields"), MEMBERS)


def chosen(records: Iterable[orjson.Fragment], fields: Sequence[str]) -> list[Any]:
    """Return records with these members alone, as far as they have them; all members where none is named."""
    if not fields:
        return list(records)
    return [{name: one[name] for name in fields if name in one} for one in map(members_of, records)]


def members_of(record: orjson.Fragment) -> dict[str, Any]:
    """Return the members of a record."""
    members: dict[str, Any] = orjson.loads(orjson.dumps(record))
    return members


def told(only: IocFilter, sort: Sort | None, fields: Sequence[str]) -> dict[str, Any]:
    """Return how the filters were read, for an answer; `type` and `source` are null where there are several."""
    return {
        "type": only.types[0] if len(only.types) == 1 else None,
        "types": only.types,
        "source": only.sources[0] if len(only.sources) == 1 else None,
        "sources": only.sources,
        "malware": only.malware,
        "tags": only.tags,
        "tlp": only.tlps,
        "since": rfc3339(only.since) if only.since else None,
        "until": rfc3339(only.until) if only.until else None,
        "added_since": rfc3339(only.added_since) if only.added_since else None,
        "status": only.statuses,
        "exclude": only.exclude,
        "min_sources": only.min_sources,
        "sort": sort,
        "fields": list(fields),
    }


def _texts(given: Any) -> list[str]:
    if given is None:
        return []
    return [given] if isinstance(given, str) else [str(each) for each in given]


def _listed(field: str, given: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """Return the words of texts that hold one or more each, comma-separated. InvalidQuery for a word not among them."""
    if not given:
        return ()
    words = [word.strip() for text in _texts(given) for word in text.split(",")]
    found = dict.fromkeys(word for word in words if word)
    if not set(found) <= set(choices):
        raise InvalidQuery(field, f"must be one or more of {', '.join(choices)}, comma-separated")
    return tuple(found)


def _names(field: str, given: Any) -> tuple[str, ...]:
    texts = _texts(given)
    if len(texts) > _MOST_NAMES:
        raise InvalidQuery(field, f"may be given at most {_MOST_NAMES} times")
    return tuple(dict.fromkeys(name for text in texts if (name := read_text(field, text)) is not None))


def _count(field: str, given: Any) -> int:
    text = "" if given is None else str(given).strip()
    if not text:
        return 1
    if not (text.isascii() and text.isdecimal()) or int(text[:12]) < 1:
        raise InvalidQuery(field, "must be a whole number, 1 or more")
    return min(int(text[:12]), _LARGEST_COUNT)
