"""Focus computed from every sighting of its window, article by article: what the fast way is held against."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from intel.focus.board import HISTORY
from intel.store import Store
from intel.store.subjects import WINDOW
from tests.intel.focus.naive.items import compute
from tests.intel.focus.naive.subjects import read_material


async def naive_items(store: Store, now: datetime) -> list[dict[str, Any]]:
    """All items at `now`, stale and closed ones too, in their order."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    material = await read_material(store, day - HISTORY - WINDOW, day + timedelta(days=1))
    return compute(material, day - HISTORY, now)
