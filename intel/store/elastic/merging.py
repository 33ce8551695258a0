"""Count an indicator from sightings that are known, without reading all of them anew. Pure.

The document of an indicator holds in `newest` what counting needs of its newest sightings, a row each. Those are all of
them where there are no more than `NEWEST_ARTICLES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from intel.records import NEWEST_ARTICLES
from intel.store.elastic.documents import Document, ioc_document, is_there, newest_in

# Of more names, the last ones have to be told.
MOST_NAMES: Final = 100


@dataclass(frozen=True, slots=True)
class Known:
    """Sightings of an indicator, newest first; `all` where it has no others."""

    sightings: Sequence[Document]
    all: bool

    @property
    def is_countable(self) -> bool:
        """Whether everything that an indicator says can be told from these."""
        return self.all and len({one["source_name"] for one in self.sightings}) < MOST_NAMES


def known_of(before: Document | None, saved: Sequence[Document]) -> Known | None:
    """Return the sightings that a stored indicator was counted from as far as it holds them, and those that were saved
    since; None where it does not tell, or may hold one of these already.
    """
    if not saved:
        return None
    if before is None or not is_there(before):
        return Known(_in_order(saved), all=True)
    held = newest_in(before)
    articles = {one["article_id"] for one in saved}
    if held is None or any(one["article_id"] in articles for one in held):
        return None
    return Known(_in_order([*held, *saved]), all=len(held) == before["sightings"])


def counted(known: Known) -> Document:
    """Return the document of an indicator of which these are all the sightings."""
    sightings = known.sightings
    return ioc_document(
        sightings[:NEWEST_ARTICLES],
        sightings[-1]["seen_at"],
        len(sightings),
        len({one["counted_source"] for one in sightings}),
        sorted({one["source_name"] for one in sightings}),
        max(one.get("tlp", 0) for one in sightings),
    )


def _in_order(sightings: Sequence[Document]) -> list[Document]:
    if len(sightings) == 1:
        return [*sightings]
    return sorted(sorted(sightings, key=itemgetter("article_id")), key=itemgetter("seen_at"), reverse=True)
