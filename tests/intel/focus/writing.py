"""Short ways to write about a subject."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from intel.focus import Focus
from intel.records import Sighting
from intel.store import Store
from tests.contract.store.builders import hour, make_article, publish


async def write(
    store: Store,
    subject: str,
    *sources: str,
    at: float = 0,
    cluster: str | None = None,
    says: dict[str, Any] | None = None,
    beside: tuple[str | Sighting, ...] = (),
) -> None:
    """One article of each source about `cve CVE-2024-0001`; `says` is what all of them find of it."""
    for n, source in enumerate(sources):
        name = f"{subject} {source} {at}".replace(" ", "-")
        article = make_article(name, at=at + n / 100, source=source, cluster=cluster)
        if says is not None:
            article = replace(article, findings={subject.partition(" ")[2]: says})
        await publish(store, article, subject, *beside)


async def one(store: Store, at: float = 1) -> dict[str, Any]:
    """The only active item, so many hours after Monday morning."""
    (item,) = await focus_items(store, hour(at))
    return item


async def rules(store: Store, at: float = 1) -> dict[str, str]:
    """The rule of each active item by its subject."""
    return {item["key"]: item["rule"] for item in await focus_items(store, hour(at))}


async def focus_items(store: Store, now: datetime) -> list[dict[str, Any]]:
    """The active items of a store at `now`, in their order."""
    return [item for item in await all_items(store, now) if item["status"] == "active"]


async def all_items(store: Store, now: datetime) -> list[dict[str, Any]]:
    """The items of a store at `now`, stale and closed ones too, in their order."""
    focus = Focus(store)
    return await focus.items(await focus.standings(now))
