"""What is saved in one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intel.records import Article, Sighting


@dataclass(frozen=True, slots=True)
class Entry:
    """An article to save: with its `text`, its sightings, and the addresses that lead to it (see `Articles.save`)."""

    article: Article
    sightings: Sequence[Sighting]
    addresses: Sequence[str] = ()
