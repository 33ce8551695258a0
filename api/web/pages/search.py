"""`/search`: indicators by words, type, dates and source; without words, the newest."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.responses import Response

from api.parameters import read_since, read_text, read_until, unless_blank
from api.web.addresses import with_query
from api.web.exports import export, is_format
from api.web.visit import Visit
from intel.errors import InvalidQuery
from intel.query import IocQuery, Page, Position, parse_search
from intel.records import IOC_TYPES, Ioc

_LIST = "page of iocs"


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as it stands in the page's address."""

    q: str = ""
    type: str = ""
    since: str = ""
    until: str = ""
    source: str = ""

    def members(self) -> dict[str, str]:
        return {"q": self.q, "type": self.type, "since": self.since, "until": self.until, "source": self.source}

    def address(self, **changes: str | int | None) -> str:
        """The address of this search with something else in it."""
        return with_query("/search", {**self.members(), **changes})

    def query(self) -> IocQuery:
        """Raises InvalidQuery."""
        if self.type and self.type not in IOC_TYPES:
            raise InvalidQuery("type", f"must be one of {', '.join(IOC_TYPES)}")
        return IocQuery(
            text=parse_search(self.q) if self.q else None,
            type=self.type or None,
            since=read_since(self.since),
            until=read_until(self.until),
            source=read_text("source", self.source),
        )


@dataclass(frozen=True, slots=True)
class Facet:
    """A type, how many results it has, and where these are; the first facet stands for all types."""

    type: str
    count: int
    address: str
    chosen: bool


async def show(visit: Visit) -> Response:
    asked, limit = read(visit.query), visit.limit()
    query = replace(asked.query(), limit=limit)
    if is_format(format := visit.query.get("format", "")):
        found = await visit.service.store.iocs.find(replace(query, limit=visit.tier.results_cap))
        return export(format, found.items)
    position = _position(visit, asked)
    page = await visit.service.store.iocs.find(replace(query, after=position))
    return visit.page(
        "search.html",
        asked=asked,
        q=asked.q,
        page=page,
        limit=limit,
        reads_as=query.text.exact if query.text else (),
        facets=_facets(asked, await _counts(visit, query, page)) if position is None else (),
        next_address=_next(visit, asked, page, limit),
        more_for_members=page.next is not None and visit.signed_in is None,
        later=position is not None,
    )


def read(query: Mapping[str, str]) -> Asked:
    """What is asked; a blank parameter counts as absent."""
    return Asked(**{name: (unless_blank(query.get(name)) or "").strip() for name in Asked.__dataclass_fields__})


async def _counts(visit: Visit, query: IocQuery, page: Page[Ioc]) -> Counter[str]:
    """How many results each type has, whatever type is chosen."""
    if page.next is None and query.type is None:
        return Counter(ioc.type for ioc in page.items)
    iocs = visit.service.store.iocs
    pages = await asyncio.gather(*(iocs.find(replace(query, type=type, limit=1)) for type in IOC_TYPES))
    return Counter({type: page.total or 0 for type, page in zip(IOC_TYPES, pages, strict=True)})


def _facets(asked: Asked, counts: Counter[str]) -> tuple[Facet, ...]:
    everything = Facet("", counts.total(), asked.address(type=None), not asked.type)
    shown = (type for type in IOC_TYPES if counts[type] or type == asked.type)
    return (everything, *(Facet(t, counts[t], asked.address(type=t), asked.type == t) for t in shown))


def _position(visit: Visit, asked: Asked) -> Position | None:
    """Where the page before ended; for who is signed in, as paging on needs a key elsewhere."""
    cursor = visit.query.get("cursor")
    if not cursor or visit.signed_in is None:
        return None
    before, position = visit.service.cursors.read(_LIST, cursor)
    if before != asked.members():
        raise InvalidQuery("cursor", "belongs to another search")
    return position


def _next(visit: Visit, asked: Asked, page: Page[Ioc], limit: int) -> str | None:
    if page.next is None or visit.signed_in is None:
        return None
    cursor = visit.service.cursors.write(_LIST, asked.members(), page.next)
    return asked.address(cursor=cursor, limit=visit.query.get("limit") and limit)
