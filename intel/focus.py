"""Focus: the CVEs and malware that independent sources write about at the same time.

An item's severity comes from the first rule that matches; what a rule needs and nobody has recorded never raises it.

    M4  medium  three or more independent sources
    L1  low     two independent sources
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from intel.records import Ioc
from intel.store import Store
from intel.times import from_rfc3339, rfc3339, to_milliseconds

SEVERITIES = ("critical", "high", "medium", "low")
_WINDOW = timedelta(days=14)
_MOST_ITEMS = 500
_KINDS = {"cve": "cve", "malware": "malware"}


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table: the first whose `matches` is true gives the severity."""

    id: str
    severity: str
    matches: Callable[[Ioc], bool]


RULES = (
    Rule("M4", "medium", lambda ioc: ioc.sources >= 3),
    Rule("L1", "low", lambda ioc: ioc.sources >= 2),
)


async def focus_items(store: Store, now: datetime) -> list[dict[str, Any]]:
    """All focus items: most severe first, then most sources, then newest."""
    reported = await store.iocs.most_reported(tuple(_KINDS), now - _WINDOW, _MOST_ITEMS)
    items = [item for ioc in reported if (item := _item(ioc))]
    return sorted(items, key=place_of)


def place_of(item: dict[str, Any]) -> tuple[int, int, int, str]:
    """Where an item stands in the list, so that a walk goes on from there though items come and go."""
    last_seen = to_milliseconds(from_rfc3339(item["last_seen"]))
    return SEVERITIES.index(item["severity"]), -item["evidence"]["sources"], -last_seen, item["id"]


def _item(ioc: Ioc) -> dict[str, Any] | None:
    rule = next((rule for rule in RULES if rule.matches(ioc)), None)
    if rule is None:
        return None
    return {
        "id": f"f_{_KINDS[ioc.type]}_{ioc.value}",
        "kind": _KINDS[ioc.type],
        "key": ioc.value,
        "title": f"{ioc.value}: {ioc.article.title}",
        "severity": rule.severity,
        "rule": rule.id,
        "reason": f"{ioc.sources} independent sources wrote about it; the newest on {ioc.last_seen:%Y-%m-%d}.",
        "evidence": {
            "sources": ioc.sources,
            "articles": ioc.sightings,
            "newest_article": {"id": ioc.article.id, "title": ioc.article.title},
        },
        "first_seen": rfc3339(ioc.first_seen),
        "last_seen": rfc3339(ioc.last_seen),
    }
