"""`/weekly` and `/weekly/{week}`: what the articles come to."""

from __future__ import annotations

from starlette.responses import Response

from api.web.visit import Visit
from intel.catalogues import kev_names
from intel.errors import InvalidQuery
from intel.records import Week
from intel.weekly import week_ids, week_revision, week_revisions

_WEEKS_TOLD = 3
_REVISIONS_TOLD = 20


async def show_weeks(visit: Visit) -> Response:
    service = visit.service
    ids = await week_ids(service.store)
    told = await service.roundups.current(ids[:_WEEKS_TOLD])
    return visit.page("weekly.html", weeks=told, older=ids[_WEEKS_TOLD:])


async def show_week(visit: Visit) -> Response:
    service = visit.service
    (current,) = await service.roundups.current([visit.request.path_params["week"]])
    week = await _as_asked(visit, current)
    ids = await week_ids(service.store)
    earlier = [number for number in await week_revisions(service.store, week.id) if number != week.revision]
    return visit.page(
        "week.html",
        week=week,
        body=week.body,
        cve_names=await kev_names(service.store, [row["value"] for row in week.body["top_cves"]]),
        newest=current.revision,
        earlier=earlier[:_REVISIONS_TOLD],
        before=next((id for id in ids if id < week.id), None),
        after=next((id for id in reversed(ids) if id > week.id), None),
    )


async def _as_asked(visit: Visit, current: Week) -> Week:
    """Return the week, or what an earlier revision said."""
    asked = visit.query.get("revision", "").strip()
    if not asked or asked == str(current.revision):
        return current
    if not (asked.isascii() and asked.isdigit() and len(asked) < 7):
        raise InvalidQuery("revision", "must be a whole number from 1 on")
    return await week_revision(visit.service.store, current.id, int(asked))
