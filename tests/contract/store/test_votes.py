"""Votes: one of each account on an indicator, whoever votes at the same moment."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from intel.records import Vote
from intel.store.port import Store
from tests.contract.store.builders import hour, id_of, make_article, publish

EVIL, OTHER = id_of("domain evil.example"), id_of("domain other.example")


def make_vote(account: str = "one", *, at: float = 0, ioc: str = EVIL, note: str = "Our own mail host.") -> Vote:
    return Vote(ioc, f"account-{account}", note, hour(at))


async def test_a_vote_is_read_back_whole(store: Store, other_store: Store) -> None:
    vote = make_vote(note="<b>ü</b> 分析\n\u202e'\"; --")
    await store.votes.put(vote)
    assert await other_store.votes.of(EVIL) == (vote,)
    assert await other_store.votes.counts([EVIL]) == {EVIL: 1}


async def test_what_nobody_voted_on_is_left_out(store: Store) -> None:
    await store.votes.put(make_vote(note=""))
    assert await store.votes.of(OTHER) == ()
    assert await store.votes.counts([OTHER, EVIL, "unknown", EVIL]) == {EVIL: 1}
    assert await store.votes.counts([]) == {}


async def test_an_account_has_one_vote_on_an_indicator(store: Store, other_store: Store) -> None:
    await store.votes.put(make_vote())
    later = make_vote(at=5, note="Still our own.")
    await other_store.votes.put(later)
    assert await store.votes.of(EVIL) == (later,)
    assert await store.votes.counts([EVIL]) == {EVIL: 1}


async def test_votes_come_oldest_first_then_by_account(store: Store) -> None:
    votes = [make_vote("b", at=2), make_vote("d", at=1), make_vote("c", at=1), make_vote("a", at=3)]
    for vote in votes:
        await store.votes.put(vote)
        await store.votes.put(replace(vote, ioc_id=OTHER, note="other"))
    assert [vote.account_id for vote in await store.votes.of(EVIL)] == [f"account-{name}" for name in "cdba"]
    assert {vote.note for vote in await store.votes.of(OTHER)} == {"other"}
    await store.votes.put(make_vote("c", at=9))
    assert [vote.account_id for vote in await store.votes.of(EVIL)] == [f"account-{name}" for name in "dbac"]


async def test_a_withdrawn_vote_is_gone(store: Store, other_store: Store) -> None:
    for vote in (make_vote("a"), make_vote("b", at=1), make_vote("a", ioc=OTHER)):
        await store.votes.put(vote)
    assert await store.votes.withdraw(EVIL, "account-a")
    assert not await store.votes.withdraw(EVIL, "account-a")
    assert not await store.votes.withdraw(EVIL, "account-unknown")
    assert await other_store.votes.of(EVIL) == (make_vote("b", at=1),)
    assert await other_store.votes.counts([EVIL, OTHER]) == {EVIL: 1, OTHER: 1}
    await store.votes.put(make_vote("a", at=7))
    assert await other_store.votes.counts([EVIL]) == {EVIL: 2}


async def test_votes_of_many_at_once_all_count(store: Store, other_store: Store) -> None:
    stores = (store, other_store)
    votes = [make_vote(f"{n:02}", at=n % 5, ioc=ioc) for n in range(20) for ioc in (EVIL, OTHER)]
    await asyncio.gather(*(stores[n % 2].votes.put(vote) for n, vote in enumerate(votes)))
    assert await store.votes.counts([EVIL, OTHER]) == {EVIL: 20, OTHER: 20}
    expected = sorted((v for v in votes if v.ioc_id == EVIL), key=lambda vote: (vote.voted_at, vote.account_id))
    assert await other_store.votes.of(EVIL) == tuple(expected)


async def test_votes_of_one_account_at_once_count_once(store: Store, other_store: Store) -> None:
    stores = (store, other_store)
    votes = [make_vote(at=n, note=f"n{n}") for n in range(20)]
    await asyncio.gather(*(stores[n % 2].votes.put(vote) for n, vote in enumerate(votes)))
    (kept,) = await store.votes.of(EVIL)
    assert kept in votes
    assert await other_store.votes.counts([EVIL]) == {EVIL: 1}


async def test_of_many_withdrawals_at_once_one_succeeds(store: Store, other_store: Store) -> None:
    await store.votes.put(make_vote())
    stores = (store, other_store)
    withdrawn = await asyncio.gather(*(stores[n % 2].votes.withdraw(EVIL, "account-one") for n in range(20)))
    assert withdrawn.count(True) == 1
    assert await store.votes.counts([EVIL]) == {}


async def test_votes_on_a_thousand_indicators_are_counted_at_once(store: Store, other_store: Store) -> None:
    ids = [id_of(f"domain d{n}.example") for n in range(1_000)]
    await asyncio.gather(*(store.votes.put(make_vote(account, ioc=id)) for id in ids[::10] for account in ("a", "b")))
    await store.votes.put(make_vote("c", ioc=ids[0]))
    assert await other_store.votes.counts(ids) == dict.fromkeys(ids[::10], 2) | {ids[0]: 3}


async def test_at_most_the_oldest_thousand_votes_are_given(store: Store) -> None:
    await asyncio.gather(*(store.votes.put(make_vote(f"{n:04}", at=-n)) for n in range(1_003)))
    assert await store.votes.counts([EVIL]) == {EVIL: 1_003}
    found = await store.votes.of(EVIL)
    assert [vote.account_id for vote in found] == [f"account-{n:04}" for n in range(1_002, 2, -1)]


async def test_votes_outlive_their_indicator_and_change_nothing_of_it(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example")
    before = await store.iocs.get(EVIL)
    await store.votes.put(make_vote())
    assert await store.iocs.get(EVIL) == before
    await publish(store, make_article())
    assert await store.iocs.get(EVIL) is None
    assert await store.votes.counts([EVIL]) == {EVIL: 1}
