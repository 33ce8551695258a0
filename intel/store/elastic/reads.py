"""Read a few documents by id, of whichever index, together with all that is asked for at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from intel.errors import StoreUnavailable
from intel.gathering import Gathering
from intel.store.elastic.client import Cluster, IndexMissing, as_error

MOST_GATHERED = 20
_MOST_QUESTIONS = 100

# A shard that was made or moved a moment ago refuses single documents for as long.
_SHARD_STARTS = (0.1, 0.4, 1.0)

_Answer = Mapping[str, Any]


class _ShardAway(StoreUnavailable):
    """The shard of a document is not there yet, or no longer."""


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
        question = _Question(index, ids, source)
        for seconds in _SHARD_STARTS:
            try:
                return _whole(await self._gathered(question))
            except IndexMissing:
                await self._cluster.make_missing()
            except _ShardAway:
                await asyncio.sleep(seconds)
        return _whole(await self._gathered(question))

    async def _ask(self, questions: Sequence[_Question]) -> list[Sequence[_Answer]]:
        asked = [{"_index": one.index, "_id": id, "_source": one.source} for one in questions for id in one.ids]
        answers = iter((await self._cluster.ask("POST", "/_mget", {"docs": asked}))["docs"])
        return [list(islice(answers, len(one.ids))) for one in questions]


def _whole(answers: Sequence[_Answer]) -> Sequence[_Answer]:
    for answer in answers:
        if error := answer.get("error"):
            refused = as_error(404, str(error.get("type")), str(error.get("reason")))
            missing = isinstance(refused, IndexMissing)
            raise refused if missing else _ShardAway("the store refuses requests at the moment")
    return answers
