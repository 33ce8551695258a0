"""Working on a submission: what is tried again, when, and how often; and who may write."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ingest.work import SubmissionWork
from intel.errors import ArticleUnreadable, FetchFailed, IngestFailed, IsolationFailed, RefusedUrl, StoreUnavailable
from intel.records import Article, Submission
from intel.store import Store
from tests.api.running import Clock
from tests.contract.store.builders import make_article
from tests.ingest.work.working import URL, Web, read_until_ended, read_when_due, state, submitted


async def test_an_article_ends_its_submission_as_done(store: Store, clock: Clock) -> None:
    article = replace(make_article(), ioc_counts={"domain": 2, "cve": 1}, notes=("The page was cut.",))
    web = Web(article)
    work = SubmissionWork(store, web.read, clock)
    await submitted(store, clock)
    await work.read("submission-1")
    done = await state(store)
    assert (done.status, done.attempts, done.reason, done.detail) == ("done", 1, None, "The page was cut.")
    assert (done.article_id, done.ioc_count, done.finished_at) == (article.id, 3, clock.now)
    assert web.asked == [(URL, "News")]


async def test_what_has_ended_or_is_not_there_is_not_read_again(store: Store, clock: Clock) -> None:
    web = Web(make_article())
    work = SubmissionWork(store, web.read, clock)
    await submitted(store, clock)
    for _ in range(3):
        await work.read("submission-1")
    await work.read("unknown")
    assert len(web.asked) == 1


async def test_a_page_that_waits_for_its_turn_to_be_parsed_loses_none_of_its_time_and_attempts(
    store: Store, clock: Clock
) -> None:
    def no_turn() -> Article:
        clock.forward(85)  # a long fetch, and the longest wait for a turn
        raise IsolationFailed("busy", "Too many large pages are being read at this moment.", retryable=True)

    put_off = FetchFailed("http_503", "Later.", retryable=True)
    work = SubmissionWork(store, Web(*[no_turn] * 30, put_off, make_article()).read, clock)
    await submitted(store, clock)
    for _ in range(30):
        waiting = await read_when_due(work, store, clock)
        assert (waiting.status, waiting.reason, waiting.attempts) == ("queued", "busy", 0)
    done = await read_until_ended(work, store, clock)
    assert (done.status, done.reason, done.attempts) == ("done", None, 2)


@pytest.mark.promise("submit.no-retry-for-what-cannot-pass")
@pytest.mark.parametrize(
    "error",
    [
        RefusedUrl("blocked_address", "No."),
        FetchFailed("http_404", "Gone."),
        ArticleUnreadable("no_text", "Empty."),
        IsolationFailed("parse_timeout", "Too long."),
    ],
    ids=lambda error: error.reason,
)
async def test_what_cannot_pass_fails_at_once(store: Store, clock: Clock, error: IngestFailed) -> None:
    work = SubmissionWork(store, Web(error).read, clock)
    await submitted(store, clock)
    await work.read("submission-1")
    failed = await state(store)
    assert (failed.status, failed.reason, failed.detail, failed.attempts) == ("failed", error.reason, error.detail, 1)
    assert failed.finished_at == clock.now


@pytest.mark.promise("submit.ends-within-180-seconds")
async def test_what_may_pass_is_tried_again_at_growing_intervals_and_not_for_ever(store: Store, clock: Clock) -> None:
    work = SubmissionWork(store, Web(FetchFailed("http_503", "Busy.", retryable=True)).read, clock)
    begun = (await submitted(store, clock)).created_at
    waits = []
    while not (found := await read_when_due(work, store, clock)).ended:
        assert (found.status, found.reason) == ("queued", "http_503")
        waits.append((found.due_at - clock.now).total_seconds())
    assert (found.status, found.reason, found.detail) == ("failed", "http_503", "Busy.")
    assert len(waits) >= 2 and waits[0] >= 1
    assert waits == sorted(waits), waits
    # A sweep (3 s), and what a last attempt may take in fetching (45 s) and reading (30 s), still fit.
    assert clock.now - begun <= timedelta(seconds=180 - 78)


@pytest.mark.promise("submit.ends-within-180-seconds")
async def test_trying_again_can_succeed(store: Store, clock: Clock) -> None:
    web = Web(FetchFailed("timeout", "Slow.", retryable=True), make_article())
    work = SubmissionWork(store, web.read, clock)
    await submitted(store, clock)
    done = await read_until_ended(work, store, clock)
    assert (done.status, done.attempts, done.reason, done.detail) == ("done", 2, None, None)


@pytest.mark.promise("submit.retry-after")
async def test_a_site_may_put_us_off_beyond_the_usual_time(store: Store, clock: Clock) -> None:
    busy = FetchFailed("http_429", "Later.", retryable=True, retry_after_seconds=600)
    work = SubmissionWork(store, Web(busy, make_article()).read, clock)
    await submitted(store, clock)
    await work.read("submission-1")
    waiting = await state(store)
    assert waiting.status == "queued"
    assert timedelta(seconds=600) <= waiting.due_at - clock.now <= timedelta(seconds=602)
    clock.forward(599)
    await work.read("submission-1")
    assert await state(store) == waiting
    assert (await read_until_ended(work, store, clock)).status == "done"


@pytest.mark.promise("submit.retry-after")
async def test_a_site_cannot_put_us_off_for_ever(store: Store, clock: Clock) -> None:
    busy = FetchFailed("http_429", "Later.", retryable=True, retry_after_seconds=10**9)
    work = SubmissionWork(store, Web(busy).read, clock)
    begun = (await submitted(store, clock)).created_at
    failed = await read_until_ended(work, store, clock)
    assert (failed.status, failed.reason) == ("failed", "http_429")
    assert clock.now - begun < timedelta(hours=6)


@pytest.mark.promise("submit.asked-six-times")
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("seconds", [0.0, 1.0, 2.0, 30.0])
async def test_a_site_that_always_answers_with_a_short_retry_after_is_asked_six_times_at_most(
    store: Store, clock: Clock, status: int, seconds: float
) -> None:
    busy = FetchFailed(f"http_{status}", "Later.", retryable=True, retry_after_seconds=seconds)
    web = Web(busy)
    begun = (await submitted(store, clock)).created_at
    failed = await read_until_ended(SubmissionWork(store, web.read, clock), store, clock)
    assert (failed.status, failed.reason, failed.detail) == ("failed", f"http_{status}", "Later.")
    assert 3 <= len(web.asked) <= 6
    assert clock.now - begun <= timedelta(seconds=180 - 78)


@pytest.mark.promise("submit.asked-six-times")
async def test_readers_that_are_killed_in_between_do_not_hide_what_the_site_answers(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    for _ in range(7):
        assert await store.submissions.claim("submission-1", clock.now, clock.now + timedelta(seconds=1))
        clock.forward(1)
    busy = FetchFailed("http_429", "Later.", retryable=True, retry_after_seconds=1)
    web = Web(busy)
    failed = await read_until_ended(SubmissionWork(store, web.read, clock), store, clock)
    assert (failed.reason, 3 <= len(web.asked) <= 6) == ("http_429", True)


async def test_a_fault_of_ours_ends_the_submission_without_showing_the_inside(store: Store, clock: Clock) -> None:
    work = SubmissionWork(store, Web(RuntimeError("/secret/path")).read, clock)
    await submitted(store, clock)
    await work.read("submission-1")
    failed = await state(store)
    assert (failed.status, failed.reason) == ("failed", "internal_error")
    assert failed.detail and "secret" not in failed.detail


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_store_out_of_reach_leaves_the_submission_to_be_read_later(store: Store, clock: Clock) -> None:
    work = SubmissionWork(store, Web(StoreUnavailable(), make_article()).read, clock)
    await submitted(store, clock)
    await work.read("submission-1")
    waiting = await state(store)
    assert (waiting.status, waiting.reason) == ("queued", "store_unavailable")
    assert waiting.due_at > clock.now
    done = await read_until_ended(work, store, clock)
    assert (done.status, done.reason) == ("done", None)


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_store_that_keeps_nothing_for_minutes_is_outlasted_but_not_for_ever(store: Store, clock: Clock) -> None:
    begun = (await submitted(store, clock)).created_at
    full = SubmissionWork(store, Web(StoreUnavailable()).read, clock)
    while clock.now - begun < timedelta(minutes=10):
        assert (await read_when_due(full, store, clock)).status == "queued"
    assert (await read_until_ended(full, store, clock)).reason == "gave_up"


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_killed_workers_submission_is_taken_over_when_its_lease_ends(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    # What a worker leaves behind that dies right after its claim.
    assert await store.submissions.claim("submission-1", clock.now, clock.now + timedelta(seconds=30))
    web = Web(make_article())
    work = SubmissionWork(store, web.read, clock)
    clock.forward(29)
    await work.read("submission-1")
    assert web.asked == []
    clock.forward(1)
    await work.read("submission-1")
    done = await state(store)
    assert (done.status, done.attempts) == ("done", 2)


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_page_that_kills_every_reader_is_given_up(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    web = Web(make_article())
    work = SubmissionWork(store, web.read, clock)
    for _ in range(10):
        assert await store.submissions.claim("submission-1", clock.now, clock.now + timedelta(seconds=30))
        clock.forward(30)
    await work.read("submission-1")
    failed = await state(store)
    assert (failed.status, failed.reason) == ("failed", "gave_up")
    assert web.asked == []


@pytest.mark.promise("promises.accepted-never-lost")
async def test_readers_that_are_killed_in_quick_succession_cost_no_submission(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    work = SubmissionWork(store, Web(make_article()).read, clock)
    for _ in range(9):
        assert await store.submissions.claim("submission-1", clock.now, clock.now + timedelta(seconds=30))
        clock.forward(30)
    await work.read("submission-1")
    assert (await state(store)).status == "done"


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_service_that_was_down_for_long_tries_again(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    work = SubmissionWork(store, Web(make_article()).read, clock)
    assert await store.submissions.claim("submission-1", clock.now, clock.now + timedelta(seconds=30))
    clock.forward(100_000)
    await work.read("submission-1")
    assert (await state(store)).status == "done"


@pytest.mark.promise("promises.idempotent")
async def test_a_worker_that_lost_its_lease_cannot_write_any_more(store: Store, clock: Clock) -> None:
    await submitted(store, clock)

    async def slow(_: Submission) -> Article:
        clock.forward(31)
        await other.read("submission-1")
        raise FetchFailed("http_404", "Gone.")

    other = SubmissionWork(store, Web(make_article()).read, clock)
    await SubmissionWork(store, slow, clock).read("submission-1")
    done = await state(store)
    assert (done.status, done.attempts) == ("done", 2)


@pytest.mark.promise("promises.idempotent")
async def test_of_many_workers_one_reads_a_submission(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    web = Web(make_article())
    work = SubmissionWork(store, web.read, clock)
    await asyncio.gather(*(work.read("submission-1") for _ in range(10)))
    assert len(web.asked) == 1


@pytest.mark.promise("promises.accepted-never-lost")
async def test_what_is_being_read_when_a_worker_stops_is_handed_back(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    begun = asyncio.Event()

    async def endless(_: Submission) -> Article:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    reading = asyncio.create_task(SubmissionWork(store, endless, clock).read("submission-1"))
    await asyncio.wait_for(begun.wait(), 60)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    back = await state(store)
    assert (back.status, back.due_at, back.attempts, back.first_attempt_at) == ("queued", clock.now, 0, None)
    await SubmissionWork(store, Web(make_article()).read, clock).read("submission-1")
    assert (await state(store)).status == "done"


class Away:
    """A store that is out of reach for the named method of its submissions."""

    def __init__(self, store: Store, method: str) -> None:
        self._store = store
        self._method = method
        self.submissions = self

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            return self._unavailable
        return getattr(self._store.submissions, name)

    async def _unavailable(self, *_: object) -> None:
        raise StoreUnavailable


@pytest.mark.promise("promises.accepted-never-lost")
@pytest.mark.parametrize("method", ["claim", "update"])
@pytest.mark.parametrize("outcome", [make_article(), FetchFailed("http_404", "Gone.")], ids=["read", "failed"])
async def test_a_store_out_of_reach_at_any_step_is_a_warning_and_no_failure(
    store: Store, clock: Clock, method: str, outcome: Article | IngestFailed
) -> None:
    await submitted(store, clock)
    away: Any = Away(store, method)
    await SubmissionWork(away, Web(outcome).read, clock).read("submission-1")
    assert not (await state(store)).ended
    assert (
        await read_until_ended(SubmissionWork(store, Web(make_article()).read, clock), store, clock)
    ).status == "done"


async def test_how_many_indicators_were_left_out_stands_on_the_submission(store: Store, clock: Clock) -> None:
    await submitted(store, clock)
    article = replace(make_article(), ioc_counts={"domain": 20_000}, ioc_dropped=7)
    await SubmissionWork(store, Web(article).read, clock).read("submission-1")
    assert ((await state(store)).ioc_count, (await state(store)).ioc_dropped) == (20_000, 7)


@pytest.mark.promise("submit.ends-within-180-seconds")
@pytest.mark.parametrize("fetch_seconds", [5.0, 45.0, 60.0])
async def test_the_last_attempt_begins_early_enough_for_a_whole_fetch(
    store: Store, clock: Clock, fetch_seconds: float
) -> None:
    busy = FetchFailed("http_503", "Busy.", retryable=True)
    work = SubmissionWork(store, Web(busy).read, clock, fetch_seconds)
    begun = (await submitted(store, clock)).created_at
    await read_until_ended(work, store, clock)
    assert (clock.now - begun).total_seconds() <= 180 - 3 - 30 - fetch_seconds
