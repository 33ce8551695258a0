"""What is saved in one step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from intel.records import Article, Sighting


@dataclass(frozen=True, slots=True)
class Entry:
    """An article to save: with its `text`, its sightings, and the addresses that lead to it (see `Articles.save`)."""

    article: Article
    sightings: Sequence[Sighting]
    addresses: Sequence[str] = ()


def steps(ids: Sequence[str], stored: Collection[str]) -> Iterator[tuple[slice, bool]]:
    """Yield in which steps articles of these ids are saved: new ones in a row together, every other one alone.

    The second member tells whether a step is new. Who saves one that is stored may take back what the one before it
    said, and both are changes.
    """
    known, start = {*stored}, 0
    for place, id in enumerate(ids):
        if id not in known:
            known.add(id)
            continue
        if start < place:
            yield slice(start, place), True
        yield slice(place, place + 1), False
        start = place + 1
    if start < len(ids):
        yield slice(start, len(ids)), True
