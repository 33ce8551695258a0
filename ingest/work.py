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

from ingest.handed_in import clear_files
from ingest.queue.port import Queue
from ingest.reading_slots import BUSY
from ingest.warned import keep_marked
from intel.errors import IngestFailed, StoreUnavailable
from intel.records import Article, Submission
from intel.store import Store
from intel.tracing import submission_span

log = structlog.get_logger()

Clock = Callable[[], datetime]
ReadPage = Callable[[Submission], Awaitable[Article]]

_LEASE = timedelta(seconds=30)
_RENEW_SECONDS = 10.0
_SETUP_RETRY_SECONDS = 1.0
_SWEEP_SECONDS = 3.0
_SWEEP_AT_ONCE = 500
# Contract: a submission ends within 180 s of its first attempt. The last one may wait for a sweep, take a whole fetch
# and a whole reading (30 s).
_LAST_FETCH_AFTER = timedelta(seconds=140)
_FIRST_RETRY_SECONDS = 5.0
_LONGEST_RETRY_AFTER_SECONDS = 3600.0
# A site may put us off beyond the usual time, but not for ever.
_MOST_LONG_WAITS = 3
# Only a page whose every reader was killed, or could not store it, is claimed so often: other failures end or wait.
_MOST_ATTEMPTS = 20
# A page that kills its reader is met by everybody whom that reader's death cuts short as well.
_MOST_CUT_SHORT = 10
# A site that says to come back later is asked no more often.
_MOST_ASKED = 6
# Whoever stops sooner gives its attempt back as if it had not been made.
_NO_ATTEMPT = timedelta(seconds=100)
_NO_STORE = "store_unavailable"
_FIRST_STORE_WAIT_SECONDS, _LONGEST_STORE_WAIT_SECONDS = 10, 60
# Clocks that agree differ by less.
_CLOCKS_APART = timedelta(seconds=60)
_STRANDED_EVERY_SECONDS = 15.0
_REMOVALS_EVERY_SECONDS = 15.0
_FILES_EVERY_SECONDS = 600.0
_MARKING_EVERY_SECONDS = 30.0
_FAR_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SubmissionWork:
    """Reads one submission; give its `read` to a queue. `read_page` takes in the page of a submission."""

    store: Store
    read_page: ReadPage
    clock: Clock
    longest_fetch_seconds: float = 45.0

    async def read(self, submission_id: str) -> None:
        """Claim and read a submission if it is due; whatever the page does ends in the submission."""
        try:
            await self._read(submission_id)
        except StoreUnavailable:
            log.info("the store is out of reach; the submission is due again later", submission=submission_id)

    async def _read(self, submission_id: str) -> None:
        now = self.clock()
        submission = await self.store.submissions.claim(submission_id, now, now + _LEASE)
        if submission is None:
            return
        submission = replace(submission, first_attempt_at=min(submission.first_attempt_at or now, now))
        if _is_hopeless(submission):
            await self._end(_failed(submission, "gave_up", "Every attempt to read this page was cut short.", now))
            return
        try:
            # What is saved is searchable: the trace tells of everything until then.
            with submission_span("take in", submission.id, attempt=submission.attempts):
                async with _renewed(self.store, submission, self.clock):
                    article = await self.read_page(submission)
            await self._end(done(submission, article, self.clock()))
        except IngestFailed as error:
            if error.reason == BUSY:
                # Not the page's fault: it has had no attempt, and none of its time is used up.
                await self._hand_back(replace(submission, reason=error.reason, detail=error.detail), now)
                return
            last = _LAST_FETCH_AFTER - timedelta(seconds=self.longest_fetch_seconds)
            await self._end(_after_failure(submission, error, self.clock(), last))
        except StoreUnavailable:
            await self._end(_after_outage(submission, self.clock()))
            raise
        except asyncio.CancelledError:
            await self._hand_back(submission, now)
            raise
        except Exception:
            log.exception("reading a page failed in an unforeseen way", submission=submission_id)
            detail = "The page could not be read because of a fault in this service."
            await self._end(_failed(submission, "internal_error", detail, self.clock()))

    async def _end(self, submission: Submission) -> None:
        if not await self.store.submissions.update(submission):
            log.info("another worker has taken over", submission=submission.id)
        elif submission.ended and submission.file_id is not None:
            await self.store.files.remove(submission.file_id)

    async def _hand_back(self, submission: Submission, claimed_at: datetime) -> None:
        now = self.clock()
        back = replace(submission, status="queued", due_at=now)
        with contextlib.suppress(StoreUnavailable):
            if now - claimed_at > _NO_ATTEMPT:
                await self.store.submissions.update(back)
            else:
                first = submission.first_attempt_at if submission.attempts > 1 else None
                await self.store.submissions.hand_back(
                    replace(back, attempts=submission.attempts - 1, first_attempt_at=first)
                )


async def upkeep(store: Store, queue: Queue, clock: Clock, *beside: Callable[[], Awaitable[None]]) -> None:
    """Prepare the store as soon as it can be reached, then sweep, and do what else is given, until cancelled."""
    while True:
        try:
            await store.setup()
            break
        except StoreUnavailable:
            await asyncio.sleep(_SETUP_RETRY_SECONDS)
    removals = _again_and_again(store.articles.finish_removals, _REMOVALS_EVERY_SECONDS)
    files = _again_and_again(lambda: clear_files(store, clock()), _FILES_EVERY_SECONDS)
    sweeps = (sweep(store, queue, clock), sweep_stranded(store, queue, clock), removals, files)
    await asyncio.gather(*sweeps, *(work() for work in beside))


async def keep_marking(store: Store) -> None:
    """Mark indicators by warning lists, again and again until cancelled, where the lists changed."""
    await _again_and_again(lambda: keep_marked(store), _MARKING_EVERY_SECONDS)


async def sweep(store: Store, queue: Queue, clock: Clock) -> None:
    """Enqueue what is due, again and again until cancelled: retries, and what a lost queue or a dead worker left."""

    async def once() -> None:
        await queue.enqueue(*await store.submissions.due(clock(), _SWEEP_AT_ONCE))

    await _again_and_again(once, _SWEEP_SECONDS)


async def sweep_stranded(store: Store, queue: Queue, clock: Clock) -> None:
    """Make due at once, again and again until cancelled, what waits for a time that only a wrong clock made so late."""

    async def once() -> None:
        now = clock()
        for submission in await store.submissions.due(now + _FAR_AHEAD, _SWEEP_AT_ONCE):
            if not _is_stranded(submission, now):
                continue
            freed = replace(submission, status="queued", due_at=now)
            if await store.submissions.update(freed):
                log.warning("the clock was wrong; a submission is due at once", submission=submission.id)
                await queue.enqueue(freed)

    await _again_and_again(once, _STRANDED_EVERY_SECONDS)


async def _again_and_again(once: Callable[[], Awaitable[None]], pause_seconds: float) -> None:
    warned = False
    while True:
        try:
            await once()
            warned = False
        except StoreUnavailable:
            if not warned:
                log.warning("the store is out of reach; submissions wait")
            warned = True
        except Exception:
            # Were this to end, nothing that is lost would ever be found again.
            log.exception("sweeping failed in an unforeseen way")
        await asyncio.sleep(pause_seconds)


def done(submission: Submission, article: Article, now: datetime) -> Submission:
    """Return the submission, ended with that article."""
    return replace(
        submission,
        status="done",
        reason=None,
        detail=" ".join(article.notes) or None,
        article_id=article.id,
        ioc_count=article.ioc_count,
        ioc_dropped=article.ioc_dropped,
        finished_at=now,
        due_at=now,
    )


def _failed(submission: Submission, reason: str, detail: str, now: datetime) -> Submission:
    return replace(submission, status="failed", reason=reason, detail=detail, finished_at=now, due_at=now)


def _after_failure(submission: Submission, error: IngestFailed, now: datetime, last: timedelta) -> Submission:
    """Queue it again after a back-off if trying again may help, it was not tried too often, and there is time left.

    The last attempt begins `last` after the first one. Anything else fails for good.
    """
    asked = submission.put_off + 1
    if error.retryable and asked < _MOST_ASKED:
        due_at = now + timedelta(seconds=_wait_seconds(asked, error.retry_after_seconds))
        in_time = due_at <= (submission.first_attempt_at or now) + last
        if in_time or (error.retry_after_seconds is not None and asked <= _MOST_LONG_WAITS):
            reason, detail = error.reason, error.detail
            return replace(submission, status="queued", reason=reason, detail=detail, due_at=due_at, put_off=asked)
    return _failed(submission, error.reason, error.detail, now)


def _after_outage(submission: Submission, now: datetime) -> Submission:
    """Queue it again: what was read could not be stored."""
    wait_seconds = min(_FIRST_STORE_WAIT_SECONDS * submission.attempts, _LONGEST_STORE_WAIT_SECONDS)
    detail = "The store could not be reached; the page is read again."
    return replace(
        submission, status="queued", reason=_NO_STORE, detail=detail, due_at=now + timedelta(seconds=wait_seconds)
    )


def _is_hopeless(submission: Submission) -> bool:
    """Tell whether a submission is given up because too many attempts never came to an end."""
    cut_short = submission.attempts - submission.put_off
    return cut_short > (_MOST_ATTEMPTS if submission.reason == _NO_STORE else _MOST_CUT_SHORT)


def _is_stranded(submission: Submission, now: datetime) -> bool:
    """Tell whether a submission waits because it was made, taken or put off while a clock was ahead, or ours now is
    not.
    """
    ahead = now + _CLOCKS_APART
    if submission.due_at <= ahead:
        return False
    if submission.status == "fetching":
        return submission.due_at > ahead + _LEASE
    return (submission.first_attempt_at or submission.created_at) > ahead


def _wait_seconds(asked: int, retry_after_seconds: float | None) -> float:
    """Say how long to wait: as long as the site asks at first, longer if it goes on putting us off."""
    if retry_after_seconds is None:
        return float(_FIRST_RETRY_SECONDS * 2 ** (asked - 1) * random.uniform(0.8, 1.2))
    own = _FIRST_RETRY_SECONDS * 2 ** (asked - 2) if asked > 1 else 0.0
    return max(own, min(retry_after_seconds, _LONGEST_RETRY_AFTER_SECONDS)) + random.uniform(0, 1)


@contextlib.asynccontextmanager
async def _renewed(store: Store, submission: Submission, clock: Clock) -> AsyncIterator[None]:
    """Renew the claim's lease while the body runs. Whoever lost its lease is fenced off when it writes."""
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
