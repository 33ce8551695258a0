"""Working on submissions: claiming one, reading it, and ending it as done, failed or due again later.

The store is the truth and the clock is the store's caller's: a claim is a lease that is renewed while the work goes
on, so that a killed worker's submissions are due again half a minute later, and `attempts` fences off whoever lost its
lease.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from ingest.queue.port import Queue
from intel.errors import IngestFailed, StoreUnavailable
from intel.records import Article, Submission
from intel.store import Store

log = structlog.get_logger()

Clock = Callable[[], datetime]
ReadUrl = Callable[[str, str], Awaitable[Article]]

_LEASE = timedelta(seconds=30)
_RENEW_SECONDS = 10.0
_SETUP_RETRY_SECONDS = 1.0
_SWEEP_SECONDS = 3.0
_SWEEP_AT_ONCE = 500
# Contract: a submission ends within 180 s of its first attempt. The last one may wait for a sweep, take a whole fetch
# (45 s) and a whole reading (30 s).
_LAST_ATTEMPT_AFTER = timedelta(seconds=95)
_FIRST_RETRY_SECONDS = 5.0
_LONGEST_RETRY_AFTER_SECONDS = 3600.0
# Only a page that kills its reader is claimed so often: every other failure ends or waits.
_MOST_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class SubmissionWork:
    """Reads one submission; give its `read` to a queue. `read_url` takes an address and a source name."""

    store: Store
    read_url: ReadUrl
    clock: Clock

    async def read(self, submission_id: str) -> None:
        """Claims and reads a submission if it is due; whatever the page does ends in the submission."""
        now = self.clock()
        submission = await self.store.submissions.claim(submission_id, now, now + _LEASE)
        if submission is None:
            return
        submission = replace(submission, first_attempt_at=submission.first_attempt_at or now)
        if submission.attempts > _MOST_ATTEMPTS:
            await self._end(_failed(submission, "gave_up", "Every attempt to read this page was cut short.", now))
            return
        try:
            async with _renewed(self.store, submission, self.clock):
                article = await self.read_url(submission.url, submission.source_name)
            await self._end(done(submission, article, self.clock()))
        except IngestFailed as error:
            await self._end(_after_failure(submission, error, self.clock()))
        except StoreUnavailable:
            log.warning("the store is out of reach; the submission is due again later", submission=submission_id)
        except asyncio.CancelledError:
            await self._hand_back(submission)
            raise
        except Exception:
            log.exception("reading a page failed in an unforeseen way", submission=submission_id)
            detail = "The page could not be read because of a fault in this service."
            await self._end(_failed(submission, "internal_error", detail, self.clock()))

    async def _end(self, submission: Submission) -> None:
        if not await self.store.submissions.update(submission):
            log.info("another worker has taken over", submission=submission.id)

    async def _hand_back(self, submission: Submission) -> None:
        with contextlib.suppress(StoreUnavailable):
            now = self.clock()
            await self.store.submissions.update(replace(submission, status="queued", due_at=now))


async def upkeep(store: Store, queue: Queue, clock: Clock, *beside: Callable[[], Awaitable[None]]) -> None:
    """Prepares the store as soon as it can be reached, then sweeps, and does what else is given, until cancelled."""
    while True:
        try:
            await store.setup()
            break
        except StoreUnavailable:
            await asyncio.sleep(_SETUP_RETRY_SECONDS)
    await asyncio.gather(sweep(store, queue, clock), *(work() for work in beside))


async def sweep(store: Store, queue: Queue, clock: Clock) -> None:
    """Enqueues everything that is due, again and again, until cancelled: what a lost queue or a dead worker left
    behind.
    """
    warned = False
    while True:
        try:
            for submission_id in await store.submissions.due(clock(), _SWEEP_AT_ONCE):
                if submission := await store.submissions.get(submission_id):
                    await queue.enqueue(submission)
            warned = False
        except StoreUnavailable:
            if not warned:
                log.warning("the store is out of reach; submissions wait")
            warned = True
        await asyncio.sleep(_SWEEP_SECONDS)


def done(submission: Submission, article: Article, now: datetime) -> Submission:
    """The submission, ended with that article."""
    return replace(
        submission,
        status="done",
        reason=None,
        detail=" ".join(article.notes) or None,
        article_id=article.id,
        ioc_count=article.ioc_count,
        finished_at=now,
        due_at=now,
    )


def _failed(submission: Submission, reason: str, detail: str, now: datetime) -> Submission:
    return replace(submission, status="failed", reason=reason, detail=detail, finished_at=now, due_at=now)


def _after_failure(submission: Submission, error: IngestFailed, now: datetime) -> Submission:
    """Failed for good, or queued again after a back-off if trying again may help and there is time left."""
    if error.retryable:
        due_at = now + timedelta(seconds=_wait_seconds(submission.attempts, error.retry_after_seconds))
        in_time = due_at <= (submission.first_attempt_at or now) + _LAST_ATTEMPT_AFTER
        if in_time or _site_asked_once(submission, error):
            return replace(submission, status="queued", reason=error.reason, detail=error.detail, due_at=due_at)
    return _failed(submission, error.reason, error.detail, now)


def _wait_seconds(attempts: int, retry_after_seconds: float | None) -> float:
    if retry_after_seconds is not None:
        return min(retry_after_seconds, _LONGEST_RETRY_AFTER_SECONDS) + random.uniform(0, 1)
    return float(_FIRST_RETRY_SECONDS * 2 ** (attempts - 1) * random.uniform(0.8, 1.2))


def _site_asked_once(submission: Submission, error: IngestFailed) -> bool:
    """A site may put us off beyond the usual time, but not for ever."""
    return error.retry_after_seconds is not None and submission.attempts <= 3


@contextlib.asynccontextmanager
async def _renewed(store: Store, submission: Submission, clock: Clock) -> AsyncIterator[None]:
    """Renews the claim's lease while the body runs. Whoever lost its lease is fenced off when it writes."""
    renewing = asyncio.create_task(_renew(store, submission, clock))
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)


async def _renew(store: Store, submission: Submission, clock: Clock) -> None:
    while True:
        await asyncio.sleep(_RENEW_SECONDS)
        with contextlib.suppress(StoreUnavailable):
            await store.submissions.update(replace(submission, due_at=clock() + _LEASE))
