"""Change feeds that are followed: add, pause, resume, and have read at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from intel.records import Feed
from intel.store import Store


def paused(feed: Feed) -> Feed:
    """Return a feed that is polled no more."""
    return replace(feed, enabled=False)


def resumed(feed: Feed, now: datetime) -> Feed:
    """Return a feed that is polled at once, its failures forgotten."""
    return replace(feed, enabled=True, ended_at=None, failures=0, last_error=None, next_poll_at=now)


def due_at_once(feed: Feed, now: datetime) -> Feed:
    """Return a feed that is polled at once if it is followed."""
    return replace(feed, next_poll_at=min(now, feed.next_poll_at))


async def change_feed(store: Store, id: str, change: Callable[[Feed], Feed]) -> Feed | None:
    """Change a feed, however often somebody else changes it meanwhile; None where there is none."""
    while True:
        feed = await store.feeds.get(id)
        if feed is None:
            return None
        if changed := await store.feeds.update(change(feed)):
            return changed
