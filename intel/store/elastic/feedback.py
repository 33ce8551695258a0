"""What readers call wrong: a document for each account and candidate."""

from __future__ import annotations

from collections.abc import AsyncIterator

from intel.feedback import Feedback
from intel.store.elastic.documents import from_document, to_document
from intel.store.elastic.index import Index
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.feedback import MOST_OF_AN_ARTICLE


class ElasticFeedbacks:
    """`intel.store.port.Feedbacks`."""

    def __init__(self, feedback: Index) -> None:
        self._feedback = feedback

    @retried()
    async def put(self, feedback: Feedback) -> None:
        found = await self._feedback.get(feedback.id)
        document = to_document(feedback)
        if found is None:
            written = await self._feedback.create(feedback.id, document)
        else:
            written = await self._feedback.replace(found, document)
        if written is None:
            raise TryAgain

    @retried()
    async def withdraw(self, id: str) -> bool:
        found = await self._feedback.get(id)
        if found is None:
            return False
        if await self._feedback.delete(found):
            return True
        raise TryAgain

    async def of(self, article_id: str, account_id: str) -> tuple[Feedback, ...]:
        await self._feedback.refresh()
        only = [{"term": {"article_id": article_id}}, {"term": {"account_id": account_id}}]
        query = {
            "query": {"bool": {"filter": only}},
            "sort": [{"id": "asc"}],
            "size": MOST_OF_AN_ARTICLE,
            "track_total_hits": False,
        }
        answer = await self._feedback.search(query)
        return tuple(from_document(Feedback, hit["_source"]) for hit in answer["hits"]["hits"])

    async def all(self) -> AsyncIterator[Feedback]:
        await self._feedback.refresh()
        async for page in self._feedback.pages({}, [{"id": "asc"}]):
            for hit in page:
                yield from_document(Feedback, hit["_source"])
