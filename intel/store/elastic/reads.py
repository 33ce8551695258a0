"""Read a few documents by id, of whichever index, together with all that is asked for at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from intel.gathering import Gathering
from intel.store.elastic.client import Cluster
from intel.store.elastic.parts import ask_parts
from intel.store.read_time import read_for_many

MOST_GATHERED = 20
_MOST_QUESTIONS = 100

_Answer = Mapping[str, Any]
# Its index, its id, and its members that are read.
_Document = tuple[str, str, bool | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Question:
    """Which documents to read, by id, and which of their members: True for all."""

    index: str
    ids: Sequence[str]
    source: bool | Sequence[str]

    @property
    def documents(self) -> list[_Document]:
        source = self.source if isinstance(self.source, bool) else tuple(self.source)
        return [(self.index, id, source) for id in self.ids]


class Reads:
    """Reads documents, at most `MOST_GATHERED` of them at once, as they are now."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._gathered = Gathering(self._ask, _MOST_QUESTIONS)

    async def __call__(self, index: str, ids: Sequence[str], source: bool | Sequence[str]) -> Sequence[_Answer]:
        """Return what the cluster says of each id: `found`, and if so the document."""
        return await self._cluster.within_answer(self._gathered(_Question(index, ids, source)))

    async def _ask(self, questions: Sequence[_Question]) -> list[Sequence[_Answer]]:
        read_for_many()
        wanted = [one.documents for one in questions]
        # Many ask for the same one, such as what is imported: it is read once for them all.
        places = {document: place for place, document in enumerate(dict.fromkeys(chain.from_iterable(wanted)))}
        docs = [{"_index": index, "_id": id, "_source": source} for index, id, source in places]
        answers = await ask_parts(self._cluster, "/_mget", {"docs": docs}, "docs")
        return [[answers[places[document]] for document in documents] for documents in wanted]
