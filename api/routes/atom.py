"""`/weekly.atom`, `/focus.atom`, `/articles.atom` and `/iocs.atom`: what is new, for feed readers.

Each is its list's first page: the same parameters, tier and cap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api.answers import problems
from api.conditional import UNCHANGED
from api.filters import Asked, TagsParameter, TlpsParameter, filtered_in_order, read_tag_filter, read_tlp_filter
from api.formats import entries
from api.formats.atom import MEDIA_TYPE, Entry, Feed, atom
from api.limits.policy import access
from api.parameters import (
    LimitParameter,
    SearchParameter,
    SourceParameter,
    ValueParameter,
    read_choice,
    read_text,
)
from api.routes.iocs import read_asked
from api.service import caller_of, service_of
from api.web.addresses import here_of, own_address, with_query
from intel.focus import SEVERITIES
from intel.query import ArticleQuery, parse_search
from intel.weekly import week_ids

router = APIRouter(tags=["feeds"])

_DESCRIBED: dict[int | str, dict[str, Any]] = {
    200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}, "description": "An Atom feed."},
    304: UNCHANGED,
    **problems(422),
}


@router.get("/weekly.atom", summary="Weekly roundups as a feed", responses=_DESCRIBED)
async def weekly_feed(request: Request, limit: LimitParameter = None) -> Response:
    service = service_of(request)
    ids = (await week_ids(service.store))[: caller_of(request).results_limit(limit)]
    base = _base(request)
    found = [entries.week(week, base) for week in await service.roundups.current(ids)]
    return _answer(request, "Weekly roundups", "/weekly", {}, found)


@router.get("/focus.atom", summary="What needs attention as a feed", responses=_DESCRIBED)
async def focus_feed(
    request: Request,
    severity: Annotated[
        str | None, Query(description=f"only these: one or more of {', '.join(SEVERITIES)}, comma-separated")
    ] = None,
    limit: LimitParameter = None,
) -> Response:
    service, base = service_of(request), _base(request)
    severities = read_choice("severity", severity, SEVERITIES)
    active = [one for one in await service.focus.standings(service.clock()) if one.status == "active"]
    standings = [one for one in active if one.severity in severities]
    items = await service.focus.items(standings[: caller_of(request).results_limit(limit)])
    found = [entries.focus(item, base) for item in items]
    return _answer(request, "Focus", "/focus", {"severity": severity}, found)


@router.get("/articles.atom", summary="Articles as a feed, newest first", responses=_DESCRIBED)
async def articles_feed(
    request: Request,
    q: SearchParameter = None,
    source: SourceParameter = None,
    tag: TagsParameter = None,
    tlp: TlpsParameter = None,
    limit: LimitParameter = None,
) -> Response:
    text = parse_search(q) if q is not None else None
    most, tags, tlps = caller_of(request).results_limit(limit), read_tag_filter(tag), read_tlp_filter(tlp)
    query = ArticleQuery(text, read_text("source", source), most, None, tags, tlps)
    page, base = await service_of(request).store.articles.find(query), _base(request)
    asked: dict[str, str | list[str] | None] = {"q": text.text if text else None, "source": query.source}
    asked |= {"tag": [*tags], "tlp": [*tlps]}
    return _answer(request, "Articles", "/articles", asked, [entries.article(each, base) for each in page.items])


@router.get("/iocs.atom", summary="Indicators as a feed, a list or any search, newest first", responses=_DESCRIBED)
@access(token=True)
@filtered_in_order
async def iocs_feed(
    request: Request,
    q: SearchParameter = None,
    limit: LimitParameter = None,
    value: ValueParameter = None,
    *,
    filters: Asked,
) -> Response:
    service, base = service_of(request), _base(request)
    query, shown = await read_asked(service.store, {"q": q, "value": value, **filters}, service.clock())
    query = replace(query, limit=caller_of(request).results_limit(limit), sort="added_at")
    page = await service.store.iocs.find(query)
    given = {name: one if isinstance(one, list | str) or one is None else str(one) for name, one in filters.items()}
    asked = {"q": query.text.text if query.text else None, "value": shown["value"], **given}
    return _answer(request, "Indicators", "/search", asked, [entries.ioc(each, base) for each in page.items])


def _base(request: Request) -> str:
    return own_address(request, service_of(request).settings)


def _answer(
    request: Request, title: str, page: str, asked: Mapping[str, str | list[str] | None], found: Sequence[Entry]
) -> Response:
    """Return the feed of what was asked; its name tells it from every other one, wherever the service is reached."""
    listed = {name: [given] if isinstance(given, str) else given for name, given in asked.items()}
    narrowed = {name: ",".join(given) for name, given in listed.items() if given}
    told = ", ".join(given if name == "q" else f"{name} {given}" for name, given in narrowed.items())
    base, today = _base(request), service_of(request).clock().replace(hour=0, minute=0, second=0, microsecond=0)
    feed = Feed(
        name=with_query(page, narrowed),
        title=f"{title}: {told}" if told else title,
        address=base + here_of(request),
        page=base + with_query(page, narrowed),
        updated=today,
        entries=found,
    )
    return Response(atom(feed), headers={"Content-Type": f"{MEDIA_TYPE}; charset=utf-8"})
