"""What a saved search asks for: read when it is saved, and again whenever it is matched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from api.filters import read_filter
from api.web.addresses import with_query
from intel.query import IocQuery, parse_search
from intel.saved_searches import SavedSearch


def query_of(q: str, filters: Mapping[str, Any], now: datetime) -> IocQuery:
    """Return the query; statuses are told from `now`. Raises InvalidQuery."""
    return IocQuery(parse_search(q), read_filter(filters, now))


def address_of(search: SavedSearch) -> str:
    """Return path and query of the page that shows what a search finds."""
    if search.roundup:
        return "/weekly"
    lists = {name: ",".join(given) for name, given in search.filters.items() if isinstance(given, list)}
    return with_query("/search", {"q": search.q, **search.filters, **lists})
