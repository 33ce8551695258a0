"""Submissions: read by id, changed by compare-and-set."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

from intel.query import Page, Position
from intel.records import REMOVED, Submission
from intel.store.elastic.client import Patience
from intel.store.elastic.documents import Document, from_document, moment, to_document
from intel.store.elastic.index import Found, Index, as_found
from intel.store.elastic.pauses import TryAgain, retried
from intel.store.elastic.queries import any_of, term
from intel.store.waiting import BOUNDS, FIRST_OF_AN_ACCOUNT, WaitingBounds

# Read from the documents themselves: the mapping keeps no columns of these.
_COMPARABLE = {"article_id": {"type": "keyword"}}
_SORTABLE = {"created_at": {"type": "date"}}
_NEWEST = [{"created_at": "desc"}, {"id": "asc"}]
_MOST_SUBMITTERS = 1_000
# More than all servers add within the few seconds until each worker's sweep makes visible what was added.
_AMPLE_ROOM = 500
# Making it visible writes and opens a segment, which costs as much as saving some articles: beside a queue that is told
# of each, what others add may be seen so much later.
_SEEN_LATE_SECONDS = 10.0
_UNENDED = {"terms": {"status": ["queued", "fetching"]}}


class ElasticSubmissions:
    """`intel.store.port.Submissions`."""

    def __init__(self, submissions: Index, articles: Index) -> None:
        self._submissions = submissions
        self._articles = articles
        # Whether this process let something wait that searches do not see yet, and when they saw all there was.
        self._has_unseen = True
        self._seen_at = 0.0

    @retried()
    async def add(self, submission: Submission, bounds: WaitingBounds = BOUNDS) -> Submission:
        found = await self._submissions.get(submission.id)
        if found is not None and not await self._is_replaceable(stored := from_document(Submission, found.source)):
            return stored
        if not submission.ended:
            await self._check_room(bounds, submission.account_id)
        if await self._write(found, submission):
            return submission
        raise TryAgain

    async def _write(self, found: Found | None, submission: Submission) -> Found | None:
        document = submission_document(submission)
        try:
            if found is None:
                return await self._submissions.create(submission.id, document)
            return await self._submissions.replace(found, document)
        finally:
            self._has_unseen |= submission.status == "queued"

    async def _check_room(self, bounds: WaitingBounds, account_id: str) -> None:
        """Raise QueueFull or AccountQueueFull if there is no room; what was added just now counts where it is short."""
        in_all, of_account = await self._count_unended(account_id)
        if min(bounds.in_all - in_all, bounds.of_account - of_account) < _AMPLE_ROOM:
            await self._submissions.refresh(Patience.REFRESH)
            in_all, of_account = await self._count_unended(account_id)
        bounds.check(in_all, of_account)

    async def _count_unended(self, account_id: str) -> tuple[int, int]:
        """Count what searches see of what is unended, in all and of one account."""
        query = {
            "query": _UNENDED,
            "size": 0,
            "track_total_hits": True,
            "aggs": {"own": {"filter": term("account_id", account_id)}},
        }
        answer = await self._submissions.search(query)
        return answer["hits"]["total"]["value"], answer["aggregations"]["own"]["doc_count"]

    async def _is_replaceable(self, submission: Submission) -> bool:
        """Tell whether a submission has failed or lost its article."""
        if submission.status != "done":
            return submission.status == "failed"
        article = await self._articles.get(submission.article_id or "", ["seen_at"])
        return article is None or "seen_at" not in article.source

    async def all_of(self, account_id: str) -> AsyncIterator[Submission]:
        await self._submissions.refresh()
        async with aclosing(
            self._submissions.pages({"query": term("account_id", account_id)}, ["_shard_doc"])
        ) as pages:
            async for page in pages:
                for hit in page:
                    yield from_document(Submission, hit["_source"])

    async def page_of(self, account_id: str, limit: int, after: Position | None = None) -> Page[Submission]:
        await self._submissions.refresh(Patience.REFRESH)
        query: Document = {
            "query": term("account_id", account_id),
            "runtime_mappings": _SORTABLE,
            "sort": _NEWEST,
            "size": limit + 1,
            "track_total_hits": after is None,
        }
        if after is not None:
            query["search_after"] = after.values
        found = (await self._submissions.search(query))["hits"]
        hits, shown = found["hits"], found["hits"][:limit]
        next = Position(tuple(shown[-1]["sort"])) if len(hits) > limit else None
        total = found["total"]["value"] if after is None else None
        return Page(tuple(from_document(Submission, hit["_source"]) for hit in shown), total, next)

    async def submitters(self, article_id: str) -> frozenset[str]:
        found = await self._ended_with(article_id)
        return frozenset(one.source["account_id"] for one in found if not one.source.get("again"))

    async def detach(self, article_id: str) -> None:
        """Say of every submission that ended with an article that it was removed."""
        while found := await self._ended_with(article_id):
            removed = {"article_id": None, "article": None, "ioc_count": None, "ioc_dropped": None}
            told = removed | {"reason": "removed", "detail": REMOVED}
            await asyncio.gather(*(self._submissions.replace(one, {**one.source, **told}) for one in found))

    async def _ended_with(self, article_id: str) -> list[Found]:
        await self._submissions.refresh()
        # What an earlier version wrote is told by the documents themselves.
        older = [term("status", "done"), term("article_id", article_id)]
        by_older = {"bool": {"filter": older, "must_not": [{"exists": {"field": "article"}}]}}
        query = {
            "query": any_of([term("article", article_id), by_older]),
            "runtime_mappings": _COMPARABLE,
            "size": _MOST_SUBMITTERS,
            "seq_no_primary_term": True,
            "track_total_hits": False,
        }
        answer = await self._submissions.search(query, patience=Patience.LONG)
        return [as_found(hit) for hit in answer["hits"]["hits"]]

    async def remove(self, submission: Submission) -> bool:
        found = await self._submissions.get(submission.id)
        if found is None:
            return False
        stored = from_document(Submission, found.source)
        if (stored.status, stored.attempts) != (submission.status, submission.attempts):
            return False
        return await self._submissions.delete(found)

    async def get(self, id: str) -> Submission | None:
        found = await self._submissions.get(id)
        return None if found is None else from_document(Submission, found.source)

    @retried()
    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Submission | None:
        found = await self._submissions.get(id)
        if found is None:
            return None
        stored = from_document(Submission, found.source)
        if stored.ended or stored.due_at > now:
            return None
        claimed = replace(
            stored,
            status="fetching",
            attempts=stored.attempts + 1,
            due_at=lease_until,
            first_attempt_at=stored.first_attempt_at or now,
        )
        if await self._write(found, claimed):
            return claimed
        raise TryAgain

    async def update(self, submission: Submission) -> bool:
        return await self._write_back(submission, submission.attempts)

    async def hand_back(self, submission: Submission) -> bool:
        return await self._write_back(submission, submission.attempts + 1)

    @retried()
    async def _write_back(self, submission: Submission, claimed: int) -> bool:
        found = await self._submissions.get(submission.id)
        if found is None:
            return False
        stored = from_document(Submission, found.source)
        was_replaced = found.source["created_at"] != moment(submission.created_at)
        if stored.ended or stored.attempts != claimed or was_replaced:
            return False
        if await self._write(found, submission):
            return True
        raise TryAgain

    async def due(self, now: datetime, limit: int) -> tuple[Submission, ...]:
        if self._has_unseen or time.monotonic() - self._seen_at > _SEEN_LATE_SECONDS:
            await self._make_seen()
        first, others = await self._seen_due(now, limit)
        due = await self._standing(first, others, now)
        if len(others) == limit > len(due):
            # What is not due any more hides others.
            await self._make_seen()
            due = await self._standing(*await self._seen_due(now, limit), now)
        return due[:limit]

    async def _make_seen(self) -> None:
        begun, self._has_unseen = time.monotonic(), False
        try:
            await self._submissions.refresh()
        except BaseException:
            self._has_unseen = True
            raise
        self._seen_at = begun

    async def _seen_due(self, now: datetime, limit: int) -> tuple[list[str], list[str]]:
        """Return the ids of what searches see as due: the first ones of each account, and the longest due of all."""
        oldest = {"sort": [{"due_at": "asc"}, {"id": "asc"}], "_source": False}
        first_ones = {"top_hits": {**oldest, "size": FIRST_OF_AN_ACCOUNT}}
        longest = {"min": {"field": "due_at"}}
        by_account = {"field": "account_id", "size": limit, "order": {"longest": "asc"}}
        query = {
            "query": {"bool": {"filter": [_UNENDED, {"range": {"due_at": {"lte": moment(now)}}}]}},
            **oldest,
            "size": limit,
            "track_total_hits": False,
            "aggs": {"accounts": {"terms": by_account, "aggs": {"longest": longest, "first": first_ones}}},
        }
        answer = await self._submissions.search(query)
        accounts = answer["aggregations"]["accounts"]["buckets"] if "aggregations" in answer else ()
        first = [hit["_id"] for account in accounts for hit in account["first"]["hits"]["hits"]]
        return first, [hit["_id"] for hit in answer["hits"]["hits"]]

    async def _standing(self, first: list[str], others: list[str], now: datetime) -> tuple[Submission, ...]:
        """Return those that are due as they stand now, the first ones before all others."""
        found = await self._submissions.get_many([*first, *others])
        stored = {id: from_document(Submission, one.source) for id, one in found.items()}
        due = {id: one for id, one in stored.items() if not one.ended and one.due_at <= now}
        in_order = (*_by_age(due, first), *_by_age(due, others))
        return tuple({one.id: one for one in in_order}.values())


def _by_age(due: Mapping[str, Submission], ids: Iterable[str]) -> list[Submission]:
    return sorted((due[id] for id in ids if id in due), key=lambda one: (one.due_at, one.id))


def submission_document(submission: Submission) -> Document:
    """Return the submission, with its article where searches find it."""
    return {**to_document(submission), "article": submission.article_id}
