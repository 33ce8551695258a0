"""A submission in a store, and a web whose answers are given beforehand."""

from __future__ import annotations

from collections.abc import Callable

from ingest.work import SubmissionWork
from intel.records import Article, Submission
from intel.store import Store
from tests.api.running import Clock

URL = "https://news.example/report"


class Web:
    """Whatever reading an address comes to, in turn; the last one from then on."""

    def __init__(self, *outcomes: Article | BaseException | Callable[[], Article]) -> None:
        self._outcomes = list(outcomes)
        self.asked: list[tuple[str, str]] = []

    async def read(self, submission: Submission) -> Article:
        self.asked.append((submission.url, submission.source_name))
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome if isinstance(outcome, Article) else outcome()


async def submitted(store: Store, clock: Clock) -> Submission:
    return await store.submissions.add(
        Submission("submission-1", "account-1", URL, "News", "queued", created_at=clock.now, due_at=clock.now)
    )


async def state(store: Store) -> Submission:
    found = await store.submissions.get("submission-1")
    assert found is not None
    return found


async def read_when_due(work: SubmissionWork, store: Store, clock: Clock) -> Submission:
    """Lets time pass to when the submission is due and has it read once."""
    clock.now = max(clock.now, (await state(store)).due_at)
    await work.read("submission-1")
    return await state(store)


async def read_until_ended(work: SubmissionWork, store: Store, clock: Clock) -> Submission:
    for _ in range(50):
        found = await read_when_due(work, store, clock)
        if found.ended:
            return found
    raise AssertionError(f"never ends: {found}")
