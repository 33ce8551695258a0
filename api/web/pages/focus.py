"""`/focus`: what needs attention, and why, to the last number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from api.parameters import read_choice
from api.web.addresses import ioc_path
from api.web.visit import Visit
from intel.canonical import defang
from intel.focus import SEVERITIES, STATUSES, rules_up_to

_ACTIVE = "active"
_MOST_NAMED = 10


async def show(visit: Visit) -> Response:
    severity, status = visit.query.get("severity", "").strip(), visit.query.get("status", "").strip() or _ACTIVE
    severities = read_choice("severity", severity or None, SEVERITIES)
    statuses = read_choice("status", status, STATUSES)
    everything = await visit.service.focus.standings(visit.service.clock())
    standings = [one for one in everything if one.status in statuses]
    counts = Counter(one.severity for one in standings)
    wanted = [one for one in standings if one.severity in severities][: visit.tier.results_cap]
    return visit.page(
        "focus.html",
        items=[_told(item) for item in await visit.service.focus.items(wanted)],
        counts={name: counts[name] for name in SEVERITIES},
        severity=severity,
        standing=status,
        statuses=STATUSES,
        total=len(standings),
        catalogues=await visit.service.store.catalogues.all(),
    )


def _told(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item with what only a page needs."""
    return item | {
        "pairs": list(evidence(item["evidence"])),
        "rules": rules_up_to(item["rule"]),
        "related": [
            (each["type"], defang(each["type"], each["value"]), ioc_path(each["type"], each["value"]))
            for each in item["related_iocs"]
        ],
    }


def evidence(members: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """Yield what stands behind an item as pairs of words, members of members after them; what is not known is left
    out.
    """
    for name, found in members.items():
        words = f"{within} {name}".strip().replace("_", " ")
        if isinstance(found, Mapping):
            yield from evidence(found, words)
        elif isinstance(found, bool):
            yield words, "yes" if found else "no"
        elif isinstance(found, (list, tuple)):
            yield words, ", ".join(str(each) for each in found[:_MOST_NAMED])
        elif found is not None:
            yield words, str(found)
