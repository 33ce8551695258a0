"""What a saved search asks for: read when it is saved, and again whenever it is matched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from api.filters import read_filter
from intel.query import IocQuery, parse_search


def query_of(q: str, filters: Mapping[str, Any], now: datetime) -> IocQuery:
    """Return the query; statuses are told from `now`. Raises InvalidQuery."""
    return IocQuery(parse_search(q), read_filter(filters, now))
