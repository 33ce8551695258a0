"""Read a few documents by id, of whichever index, together with all that is asked for at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from intel.gathering import Gathering
from intel.store.elastic.client import Cluster
from intel.store.elastic.parts import ask_parts

MOST_GATHERED = 20
_MOST_QUESTIONS = 100

_Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Question:
    """Which documents to read, by id, and which of their members: True for all."""

    index: str
    ids: Sequence[str]
    source: bool | Sequence[str]


class Reads:
    """Reads documents, at most `MOST_GATHERED` of them at once, as they are now."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._gathered = Gathering(self._ask, _MOST_QUESTIONS)

    async def __call__(self, index: str, ids: Sequence[str], source: bool | Sequence[str]) -> Sequence[_Answer]:
        """Return what the cluster says of each id: `found`, and if so the document."""
        return await self._gathered(_Question(index, ids, source))

    async def _ask(self, questions: Sequence[_Question]) -> list[Sequence[_Answer]]:
        asked = [{"_index": one.index, "_id": id, "_source": one.source} for one in questions for id in one.ids]
        answers = iter(await ask_parts(self._cluster, "/_mget", {"docs": asked}, "docs"))
        return [list(islice(answers, len(one.ids))) for one in questions]
