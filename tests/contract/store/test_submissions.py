"""The life of a submission, and that nobody works on it beside another."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from intel.errors import AccountQueueFull, QueueFull
from intel.records import Submission
from intel.store.port import Store
from intel.store.waiting import WaitingBounds
from tests.contract.store.builders import hour, make_article, make_submission, publish


async def claimed(store: Store, submission: Submission) -> Submission:
    await store.submissions.add(submission)
    found = await store.submissions.claim(submission.id, hour(1), hour(2))
    assert found is not None
    return found


async def test_a_submission_is_read_back_whole(store: Store, other_store: Store) -> None:
    submission = make_submission()
    assert await store.submissions.add(submission) == submission
    assert await other_store.submissions.get(submission.id) == submission
    assert await store.submissions.get("unknown") is None


async def test_a_submission_keeps_what_was_dropped_and_whether_it_is_to_be_read_again(store: Store) -> None:
    taken = await claimed(store, replace(make_submission(), again=True))
    assert taken.again and taken.ioc_dropped is None
    done = replace(taken, status="done", ioc_count=20_000, ioc_dropped=17, finished_at=hour(1.5))
    assert await store.submissions.update(done)
    assert await store.submissions.get(done.id) == done


async def test_one_whose_submission_was_replaced_cannot_write(store: Store) -> None:
    taken = await claimed(store, make_submission())
    assert await store.submissions.update(replace(taken, status="failed", reason="timeout", finished_at=hour(1.5)))
    await store.submissions.add(replace(make_submission(), created_at=hour(3), due_at=hour(3)))
    second = await store.submissions.claim(taken.id, hour(3), hour(4))
    assert second is not None and second.attempts == taken.attempts
    assert not await store.submissions.update(replace(taken, status="done", article_id="stale"))
    assert await store.submissions.get(taken.id) == second
    assert await store.submissions.update(replace(second, status="done"))


async def test_a_known_submission_is_kept(store: Store) -> None:
    first = await store.submissions.add(make_submission())
    assert await store.submissions.add(replace(first, source_name="Other", created_at=hour(5))) == first
    assert await store.submissions.get(first.id) == first


async def test_a_submission_that_is_done_is_kept(store: Store) -> None:
    taken = await claimed(store, make_submission())
    article = await publish(store, make_article())
    done = replace(taken, status="done", article_id=article.id, ioc_count=3, finished_at=hour(1.5))
    assert await store.submissions.update(done)
    assert await store.submissions.add(make_submission()) == done


async def test_a_submission_that_failed_is_replaced(store: Store) -> None:
    taken = await claimed(store, make_submission())
    failed = replace(taken, status="failed", reason="http_403", detail="The site refused.", finished_at=hour(1.5))
    assert await store.submissions.update(failed)
    assert await store.submissions.get(failed.id) == failed
    again = replace(make_submission(), created_at=hour(3), due_at=hour(3))
    assert await store.submissions.add(again) == again
    assert await store.submissions.get(again.id) == again


async def test_a_claim_takes_what_is_due(store: Store) -> None:
    submission = await store.submissions.add(make_submission(due=1))
    assert await store.submissions.claim(submission.id, hour(0.999), hour(2)) is None
    taken = await store.submissions.claim(submission.id, hour(1), hour(2))
    assert taken == replace(submission, status="fetching", attempts=1, due_at=hour(2), first_attempt_at=hour(1))
    assert await store.submissions.get(submission.id) == taken
    assert await store.submissions.claim("unknown", hour(1), hour(2)) is None


async def test_a_claim_whose_lease_ended_is_taken_over(store: Store) -> None:
    taken = await claimed(store, make_submission())
    assert await store.submissions.claim(taken.id, hour(1.999), hour(3)) is None
    second = await store.submissions.claim(taken.id, hour(2), hour(3))
    assert second == replace(taken, attempts=2, due_at=hour(3))
    assert second is not None and second.first_attempt_at == hour(1)


async def test_one_whose_claim_was_taken_over_cannot_write(store: Store) -> None:
    taken = await claimed(store, make_submission())
    second = await store.submissions.claim(taken.id, hour(2), hour(3))
    assert second is not None
    assert not await store.submissions.update(replace(taken, status="done"))
    assert await store.submissions.get(taken.id) == second
    assert await store.submissions.update(replace(second, status="done"))


async def test_an_attempt_that_is_handed_back_does_not_count(store: Store, other_store: Store) -> None:
    first = await claimed(store, make_submission())
    second = await other_store.submissions.claim(first.id, hour(2), hour(3))
    assert second is not None
    back = replace(second, status="queued", due_at=hour(2.5), attempts=1)
    assert not await store.submissions.hand_back(replace(first, status="queued", attempts=0))
    assert await store.submissions.hand_back(back)
    assert await other_store.submissions.get(first.id) == back
    assert not await other_store.submissions.update(replace(second, status="done"))
    assert not await other_store.submissions.hand_back(back)
    third = await store.submissions.claim(first.id, hour(2.5), hour(3))
    assert third is not None and third.attempts == 2


async def test_an_ended_submission_is_never_changed_or_claimed(store: Store) -> None:
    taken = await claimed(store, make_submission())
    done = replace(taken, status="done", finished_at=hour(1.5))
    assert await store.submissions.update(done)
    assert not await store.submissions.update(replace(taken, status="failed"))
    assert await store.submissions.claim(taken.id, hour(9), hour(10)) is None
    assert await store.submissions.get(taken.id) == done
    assert not await store.submissions.update(make_submission("unknown"))
    assert await store.submissions.get("submission-unknown") is None


async def test_a_retry_waits_until_it_is_due(store: Store) -> None:
    taken = await claimed(store, make_submission())
    waiting = replace(taken, status="queued", due_at=hour(5), reason="http_503")
    assert await store.submissions.update(waiting)
    assert await store.submissions.claim(taken.id, hour(4.9), hour(6)) is None
    again = await store.submissions.claim(taken.id, hour(5), hour(6))
    assert again == replace(waiting, status="fetching", attempts=2, due_at=hour(6))


async def due(store: Store, at: float, limit: int = 10) -> list[str]:
    return [submission.id.removeprefix("submission-") for submission in await store.submissions.due(hour(at), limit)]


async def test_what_is_due_comes_longest_due_first(store: Store) -> None:
    for name, at in (("c", 3), ("a", 1), ("b", 2), ("later", 9)):
        await store.submissions.add(make_submission(name, due=at))
    ended = await claimed(store, make_submission("ended"))
    await store.submissions.update(replace(ended, status="failed"))
    leased = await claimed(store, make_submission("leased"))
    assert await due(store, 1) == await due(store, 1.9) == ["a"]
    assert await due(store, 3) == ["a", "b", "leased", "c"]
    assert await due(store, 3, 1) == ["a"]
    assert leased in await store.submissions.due(hour(3), 10)


@pytest.mark.promise("fairness.another-account-within-60-seconds")
async def test_what_is_due_of_one_account_does_not_hide_anothers(store: Store, other_store: Store) -> None:
    many = [make_submission(f"m{n:02}", due=n / 100) for n in range(30)]
    few = [replace(make_submission(f"few{n}", due=2 + n), account_id="account-2") for n in range(3)]
    await asyncio.gather(*map(store.submissions.add, (*many, *few)))
    first = [f"m{n:02}" for n in range(10)]
    others = [f"m{n:02}" for n in range(10, 30)]
    assert await due(other_store, 5, 15) == [*first, "few0", "few1", "few2", *others[:2]]
    assert await due(store, 5, 100) == [*first, "few0", "few1", "few2", *others]
    assert await due(store, 1, 100) == [*first, *others]
    assert await due(store, -1, 100) == []


@pytest.mark.promise("fairness.waiting-is-bounded")
async def test_what_waits_is_bounded_in_all_and_for_each_account(store: Store, other_store: Store) -> None:
    bounds = WaitingBounds(in_all=5, of_account=3)

    async def add(name: str, account: str) -> Submission:
        return await other_store.submissions.add(replace(make_submission(name), account_id=account), bounds)

    kept = [await add(name, "account-1") for name in ("a", "b", "c")]
    with pytest.raises(AccountQueueFull):
        await add("d", "account-1")
    assert [await add(name, "account-1") for name in ("a", "b", "c")] == kept
    await add("e", "account-2")
    await add("f", "account-2")
    with pytest.raises(QueueFull) as full:
        await add("g", "account-3")
    assert not isinstance(full.value, AccountQueueFull)
    known = replace(make_submission("known"), status="done")
    assert await store.submissions.add(known, bounds) == known
    taken = await store.submissions.claim("submission-a", hour(1), hour(2))
    assert taken is not None
    with pytest.raises(AccountQueueFull):
        await add("d", "account-1")
    assert await store.submissions.update(replace(taken, status="failed"))
    await add("g", "account-3")
    with pytest.raises(QueueFull):
        await add("a", "account-1")


@pytest.mark.promise("fairness.waiting-is-bounded")
async def test_of_many_who_come_at_once_not_many_more_are_taken_than_may_wait(store: Store, other_store: Store) -> None:
    bounds, stores = WaitingBounds(in_all=10), (store, other_store)
    given = [replace(make_submission(f"n{n}"), account_id=f"account-{n}") for n in range(40)]
    for few in zip(*[iter(given)] * 4, strict=True):
        added = (stores[n % 2].submissions.add(one, bounds) for n, one in enumerate(few))
        await asyncio.gather(*added, return_exceptions=True)
    assert 10 <= len(await store.submissions.due(hour(9), 100)) <= 13


async def test_of_many_claims_at_once_exactly_one_succeeds(store: Store, other_store: Store) -> None:
    await store.submissions.add(make_submission())
    stores = (store, other_store)
    claims = (stores[n % 2].submissions.claim("submission-one", hour(1), hour(2)) for n in range(30))
    taken = [one for one in await asyncio.gather(*claims) if one is not None]
    assert [one.attempts for one in taken] == [1]


async def test_of_many_additions_at_once_one_is_kept(store: Store, other_store: Store) -> None:
    stores = (store, other_store)
    given = [replace(make_submission(), source_name=f"S{n}") for n in range(20)]
    kept = await asyncio.gather(*(stores[n % 2].submissions.add(one) for n, one in enumerate(given)))
    assert set(kept) == {await store.submissions.get("submission-one")}


async def test_only_one_of_two_who_hold_the_same_claim_ends_it(store: Store, other_store: Store) -> None:
    taken = await claimed(store, make_submission())
    ends = [replace(taken, status="done", ioc_count=n) for n in range(10)]
    stores = (store, other_store)
    written = await asyncio.gather(*(stores[n % 2].submissions.update(end) for n, end in enumerate(ends)))
    assert written.count(True) == 1
    assert await store.submissions.get(taken.id) == ends[written.index(True)]


async def test_the_submissions_of_an_account_are_read_in_pages_newest_first(store: Store) -> None:
    at = {f"n{number}": hour(number // 2) for number in range(7)}
    for name, moment in at.items():
        await store.submissions.add(replace(make_submission(name), created_at=moment))
    await store.submissions.add(replace(make_submission("other"), account_id="account-2", created_at=hour(9)))
    first = await store.submissions.page_of("account-1", 3)
    assert (first.total, [one.id for one in first.items]) == (7, ["submission-n6", "submission-n4", "submission-n5"])
    await store.submissions.add(replace(make_submission("late"), created_at=hour(8)))
    second = await store.submissions.page_of("account-1", 3, first.next)
    assert (second.total, [one.id for one in second.items]) == (None, [f"submission-n{n}" for n in (2, 3, 0)])
    last = await store.submissions.page_of("account-1", 3, second.next)
    assert ([one.id for one in last.items], last.next) == (["submission-n1"], None)
    nothing = await store.submissions.page_of("unknown", 3)
    assert (nothing.items, nothing.total, nothing.next) == ((), 0, None)
