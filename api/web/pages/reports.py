"""`/weekly`, `/weekly/{week}` and `/focus`: what the articles come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from api.web.visit import Visit
from intel.errors import InvalidQuery
from intel.focus import SEVERITIES, focus_items
from intel.weekly import week_id, weekly

_WEEKS_TOLD = 3
_MOST_NAMED = 10
# Shown as links instead.
_LINKED = ("newest_article",)


async def show_weeks(visit: Visit) -> Response:
    service = visit.service
    ids = [week_id(monday) for monday in await service.store.articles.weeks()]
    told = [await weekly(service.store, id, service.lessons, service.clock()) for id in ids[:_WEEKS_TOLD]]
    return visit.page("weekly.html", weeks=told, older=ids[_WEEKS_TOLD:])


async def show_week(visit: Visit) -> Response:
    service = visit.service
    week = await weekly(service.store, visit.request.path_params["week"], service.lessons, service.clock())
    ids = [week_id(monday) for monday in await service.store.articles.weeks()]
    return visit.page(
        "week.html",
        week=week,
        body=week.body,
        before=next((id for id in ids if id < week.id), None),
        after=next((id for id in reversed(ids) if id > week.id), None),
    )


async def show_focus(visit: Visit) -> Response:
    severity = visit.query.get("severity", "").strip()
    if severity and severity not in SEVERITIES:
        raise InvalidQuery("severity", f"must be one of {', '.join(SEVERITIES)}")
    items = await focus_items(visit.service.store, visit.service.clock())
    counts = {name: sum(item["severity"] == name for item in items) for name in SEVERITIES}
    wanted = [item for item in items if severity in ("", item["severity"])][: visit.tier.results_cap]
    told = [(item, list(evidence(item["evidence"]))) for item in wanted]
    return visit.page("focus.html", items=told, counts=counts, severity=severity, total=len(items))


def evidence(members: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """What stands behind an item as pairs of words, members of members after them; what is not known is left out."""
    for name, found in members.items():
        words = f"{within} {name}".strip().replace("_", " ")
        if isinstance(found, Mapping):
            yield from () if name in _LINKED else evidence(found, words)
        elif isinstance(found, bool):
            yield words, "yes" if found else "no"
        elif isinstance(found, (list, tuple)):
            yield words, ", ".join(str(each) for each in found[:_MOST_NAMED] if not isinstance(each, Mapping))
        elif found is not None:
            yield words, str(found)
