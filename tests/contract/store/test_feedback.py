"""What readers call wrong: one word of each account on a candidate, all of it kept."""

from __future__ import annotations

from dataclasses import replace

from intel.feedback import Feedback
from intel.ids import feedback_id
from intel.store.port import Store
from tests.contract.store.builders import hour


def make_feedback(account: str, value: str = "evil.example", *, kept: bool = True, article: str = "a") -> Feedback:
    id = feedback_id(article, "domain", value, kept=kept, account_id=account)
    words = f"It asked {value}\u202e, ü 分析."
    return Feedback(id, article, account, "domain", value, value, words, kept, "plain prose", "t", None, hour(1))


async def test_what_readers_call_wrong_is_kept_once_for_each_and_withdrawn(store: Store, other_store: Store) -> None:
    mine, other = make_feedback("one"), make_feedback("two")
    dropped = make_feedback("one", "setup.example" + "x" * 40_000, kept=False)
    for one in (mine, other, dropped, make_feedback("one", article="b")):
        await store.feedback.put(one)
    await other_store.feedback.put(later := replace(mine, said_at=hour(2)))
    assert await store.feedback.of("a", "one") == tuple(sorted((later, dropped), key=lambda one: one.id))
    assert await store.feedback.of("c", "one") == ()
    assert await other_store.feedback.withdraw(dropped.id)
    assert not await store.feedback.withdraw(dropped.id)
    kept = [one async for one in store.feedback.all()]
    assert kept == sorted((later, other, make_feedback("one", article="b")), key=lambda one: one.id)
    assert abs(kept.index(later) - kept.index(other)) == 1
