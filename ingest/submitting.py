"""Accepting a submission: it is stored before anybody is told, and done at once where the article is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from ingest.fetch import FetchAllow, check_url
from ingest.queue.port import Queue
from ingest.work import done
from intel.canonical import canonical_url
from intel.ids import submission_id
from intel.records import Submission
from intel.store import Store


@dataclass(frozen=True, slots=True)
class Submitting:
    """Takes submissions in for any account."""

    store: Store
    queue: Queue
    fetch_allow: FetchAllow
    clock: Callable[[], datetime]

    async def submit(
        self, account_id: str, url: str, source_name: str | None, not_before: datetime | None = None
    ) -> Submission:
        """The account's submission of that address, new or as it stands. RefusedUrl where its form forbids fetching.

        A new one is read at once, or from `not_before` on.
        """
        checked = str(check_url(url, self.fetch_allow))
        address, now = canonical_url(checked), self.clock()
        submission = Submission(
            id=submission_id(account_id, address),
            account_id=account_id,
            url=checked,
            source_name=source_name or urlsplit(checked).hostname or checked,
            status="queued",
            created_at=now,
            due_at=not_before or now,
        )
        stored = await self.store.submissions.add(await self._done_if_known(submission, address, now))
        if not stored.ended and stored.attempts == 0 and stored.due_at <= now:
            await self.queue.enqueue(stored)
        return stored

    async def _done_if_known(self, submission: Submission, address: str, now: datetime) -> Submission:
        article_id = await self.store.articles.id_of(address)
        article = await self.store.articles.get(article_id) if article_id else None
        return done(submission, article, now) if article else submission
