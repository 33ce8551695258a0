"""What a store knows of a week before its roundup is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class WeekOutline(NamedTuple):
    """How many articles were seen in a week; of the indicators last seen in it, the sources and how many of a type."""

    articles: int
    sources: int
    iocs: Mapping[str, int]
