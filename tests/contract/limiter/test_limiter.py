"""The limiter's contract, run over every adapter."""

from __future__ import annotations

import asyncio

import pytest

from api.limits.bucket import Rate
from api.limits.port import Limiter
from tests.contract.limiter.worlds import World, fresh_key

pytestmark = pytest.mark.asyncio

SLOW = Rate(10, 3600, "search")


async def drain(limiter: Limiter, key: str, rate: Rate) -> int:
    """Take until refused; how many passed."""
    passed = 0
    while (await limiter.take(key, rate)).allowed:
        passed += 1
        assert passed <= rate.capacity, "more passed than the bucket holds"
    return passed


async def test_a_bucket_nobody_has_used_is_full(world: World) -> None:
    decision = await world.limiter.take(fresh_key(), SLOW)
    assert (decision.allowed, decision.limit, decision.remaining, decision.policy) == (True, 10, 9, "search")
    assert decision.reset_seconds == 360


async def test_exactly_its_capacity_passes_at_once(world: World) -> None:
    assert await drain(world.limiter, fresh_key(), SLOW) == 10


async def test_a_refusal_says_when_to_come_back(world: World) -> None:
    key = fresh_key()
    await drain(world.limiter, key, SLOW)
    refusal = await world.limiter.take(key, SLOW)
    assert (refusal.allowed, refusal.remaining) == (False, 0)
    assert 350 <= refusal.retry_after_seconds <= 360
    assert 3590 <= refusal.reset_seconds <= 3600


@pytest.mark.promise("limits.retry-after-is-true")
async def test_a_request_made_retry_after_seconds_later_passes(world: World) -> None:
    key, rate = fresh_key(), Rate(1, 2)
    await world.limiter.take(key, rate)
    refusal = await world.limiter.take(key, rate)
    assert not refusal.allowed
    await world.passes(refusal.retry_after_seconds)
    assert (await world.limiter.take(key, rate)).allowed


async def test_refused_requests_consume_nothing(world: World) -> None:
    key, rate = fresh_key(), Rate(1, 2)
    await world.limiter.take(key, rate)
    for _ in range(20):
        assert not (await world.limiter.take(key, rate)).allowed
        await world.passes(0.01)
    await world.passes(2)
    assert (await world.limiter.take(key, rate)).allowed


async def test_an_idle_bucket_never_holds_more_than_its_capacity(world: World) -> None:
    key, rate = fresh_key(), Rate(2, 1)
    await drain(world.limiter, key, rate)
    await world.passes(1.7)
    assert (await world.limiter.peek(key, rate)).remaining == 2


@pytest.mark.promise("limits.bucket-arithmetic")
async def test_tokens_come_back_evenly_over_the_window(world: World) -> None:
    key, rate = fresh_key(), Rate(100, 10)
    for _ in range(50):
        await world.limiter.take(key, rate)
    before = (await world.limiter.peek(key, rate)).remaining
    await world.passes(1)
    gained = (await world.limiter.peek(key, rate)).remaining - before
    assert 10 <= gained <= 20, "ten a second, and what a slow machine adds"


async def test_looking_costs_nothing(world: World) -> None:
    key = fresh_key()
    await world.limiter.take(key, SLOW)
    looks = [await world.limiter.peek(key, SLOW) for _ in range(30)]
    assert {look.remaining for look in looks} == {9}
    assert all(look.allowed for look in looks)


async def test_a_look_at_an_empty_bucket_says_that_a_request_would_be_refused(world: World) -> None:
    key = fresh_key()
    await drain(world.limiter, key, SLOW)
    look = await world.limiter.peek(key, SLOW)
    assert (look.allowed, look.remaining) == (False, 0)
    assert look.retry_after_seconds > 0


async def test_buckets_are_apart_by_key(world: World) -> None:
    one, other = fresh_key(), fresh_key()
    await drain(world.limiter, one, SLOW)
    assert (await world.limiter.take(other, SLOW)).remaining == 9


async def test_a_key_of_any_text_has_a_bucket(world: World) -> None:
    key = fresh_key() + " \r\n\0*{é}" + "x" * 300
    assert (await world.limiter.take(key, SLOW)).remaining == 9
    assert (await world.limiter.take(key, SLOW)).remaining == 8


async def test_a_token_that_is_given_back_can_be_taken_again(world: World) -> None:
    key = fresh_key()
    await drain(world.limiter, key, SLOW)
    await world.second_client.give_back(key, SLOW)
    assert [(await world.limiter.take(key, SLOW)).allowed for _ in range(2)] == [True, False]


async def test_giving_back_never_fills_a_bucket_beyond_its_capacity(world: World) -> None:
    key = fresh_key()
    for _ in range(3):
        await world.limiter.give_back(key, SLOW)
    assert await drain(world.limiter, key, SLOW) == 10


async def test_two_clients_share_a_bucket(world: World) -> None:
    key = fresh_key()
    for _ in range(5):
        assert (await world.limiter.take(key, SLOW)).allowed
        assert (await world.second_client.take(key, SLOW)).allowed
    assert not (await world.limiter.take(key, SLOW)).allowed
    assert not (await world.second_client.take(key, SLOW)).allowed


@pytest.mark.promise("limits.redis-own-clock")
async def test_of_64_clients_at_once_exactly_as_many_pass_as_there_are_tokens(world: World) -> None:
    key, rate = fresh_key(), Rate(100, 3600)
    limiters = (world.limiter, world.second_client)

    async def client(number: int) -> int:
        decisions = [await limiters[number % 2].take(key, rate) for _ in range(3)]
        return sum(decision.allowed for decision in decisions)

    assert sum(await asyncio.gather(*(client(number) for number in range(64)))) == 100


async def test_a_rate_that_was_lowered_holds_at_once(world: World) -> None:
    key = fresh_key()
    await world.limiter.take(key, Rate(100, 60))
    assert (await world.limiter.take(key, Rate(10, 3600))).remaining == 9


async def test_it_says_that_its_buckets_are_in_reach(world: World) -> None:
    assert await world.limiter.answers()
