"""The queue on Redis when Redis forgets, restarts or is gone."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import orjson
import pytest
import redis
import redis.asyncio as aioredis

from ingest.queue.redis import ArqQueue
from ingest.queue.redis_turns import RedisTurns
from ingest.work import SubmissionWork
from intel.store import Store
from tests.api.running import Clock
from tests.contract.limiter.redis_server import RedisServer
from tests.contract.queue.reading import Reader, ended, submission
from tests.contract.queue.test_queue import sweeping, take
from tests.contract.queue.worlds import RedisWorld


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_flushed_redis_loses_no_submission(redis_database: str, store: Store) -> None:
    clock, queue = Clock(), ArqQueue(redis_database)
    for n in range(5):
        await queue.enqueue(await store.submissions.add(submission(clock, f"n{n}")))
    with redis.Redis.from_url(redis_database) as client:
        assert client.dbsize()
        client.flushdb()
    world = RedisWorld(redis_database, SubmissionWork(store, take, clock).read)
    try:
        async with sweeping(store, queue, clock):
            for n in range(5):
                assert (await ended(store, f"submission-n{n}")).status == "done"
    finally:
        await world.stop()
        await queue.close()


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_turn_whose_worker_died_before_its_claim_goes_to_another(redis_database: str, store: Store) -> None:
    clock, queue = Clock(), ArqQueue(redis_database)
    await queue.enqueue(await store.submissions.add(submission(clock)))
    async with aioredis.Redis.from_url(redis_database) as client:
        taken = await RedisTurns(client).take()
        assert taken is not None and taken.submission_id == "submission-one"
        assert await RedisTurns(client).take() is None
        # Half a minute later.
        await client.zadd("ioc:turns:leases", {"submission-one": 1})
    world = RedisWorld(redis_database, SubmissionWork(store, take, clock).read)
    try:
        async with sweeping(store, queue, clock):
            assert (await ended(store, "submission-one")).status == "done"
    finally:
        await world.stop()
        await queue.close()


class _Trap:
    """An object whose pickle makes a file where it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


async def test_what_somebody_else_puts_into_redis_is_data_and_never_runs(
    redis_database: str, store: Store, tmp_path: Path
) -> None:
    clock, trap = Clock(), tmp_path / "sprung"
    hostile = (pickle.dumps({"t": None, "f": "read_next", "a": (_Trap(trap),), "k": {}, "et": 1}), b"[1]", b"")
    with redis.Redis.from_url(redis_database) as client:
        for number, job in enumerate(hostile):
            client.psetex(f"arq:job:hostile-{number}", 60_000, job)
            client.zadd("arq:queue", {f"hostile-{number}": time.time() * 1_000})
    world = RedisWorld(redis_database, SubmissionWork(store, take, clock).read)
    try:
        await world.queue.enqueue(await store.submissions.add(submission(clock)))
        assert (await ended(store, "submission-one")).status == "done"
    finally:
        await world.stop()
    with redis.Redis.from_url(redis_database) as client:
        assert list(client.scan_iter("arq:job:hostile-*")) == []
    assert not trap.exists()


async def test_a_job_stands_in_redis_as_json(redis_database: str, store: Store) -> None:
    queue = ArqQueue(redis_database)
    await queue.enqueue(await store.submissions.add(submission(Clock())))
    with redis.Redis.from_url(redis_database, decode_responses=False) as client:
        (job,) = (orjson.loads(client.get(key)) for key in client.scan_iter("arq:job:*"))
    await queue.close()
    assert (job["f"], job["a"]) == ("read_next", [])


@pytest.mark.promise("fairness.another-account-within-60-seconds")
async def test_a_dead_workers_slots_are_nobodys_share(redis_database: str) -> None:
    clock, queue = Clock(), ArqQueue(redis_database)
    await queue.enqueue(*(submission(clock, f"n{n}", host=f"h{n}.example") for n in range(40)))
    await queue.close()
    async with aioredis.Redis.from_url(redis_database) as client:
        dead, living = RedisTurns(client), RedisTurns(client)
        assert [await dead.take() is not None for _ in range(9)] == [True] * 8 + [False]
        assert [await living.take() is not None for _ in range(9)] == [True] * 8 + [False]
        (first, *_) = await client.zrange("ioc:turns:workers", 0, -1)
        await client.zadd("ioc:turns:workers", {first: 1})
        assert await living.take() is None


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_worker_outlives_a_redis_that_is_killed_and_comes_back_empty(
    own_redis: RedisServer, store: Store
) -> None:
    clock = Clock()
    world = RedisWorld(own_redis.url, SubmissionWork(store, take, clock).read)
    try:
        await world.queue.enqueue(await store.submissions.add(submission(clock, "before")))
        assert (await ended(store, "submission-before")).status == "done"
        own_redis.kill()
        await world.queue.enqueue(await store.submissions.add(submission(clock, "meanwhile")))
        assert not world.worker.done()
        own_redis.start()
        async with sweeping(store, world.queue, clock):
            assert (await ended(store, "submission-meanwhile")).status == "done"
        assert not world.worker.done()
    finally:
        await world.stop()


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_worker_may_start_before_redis(own_redis: RedisServer, store: Store) -> None:
    clock = Clock()
    own_redis.kill()
    world = RedisWorld(own_redis.url, SubmissionWork(store, take, clock).read)
    try:
        await world.queue.enqueue(await store.submissions.add(submission(clock)))
        own_redis.start()
        async with sweeping(store, world.queue, clock):
            assert (await ended(store, "submission-one")).status == "done"
    finally:
        await world.stop()


@pytest.mark.promise("promises.accepted-never-lost")
async def test_a_stopped_worker_ends_while_redis_is_gone(own_redis: RedisServer) -> None:
    reader, clock = Reader(), Clock()
    reader.gate.clear()
    world = RedisWorld(own_redis.url, reader.read)
    await world.queue.enqueue(submission(clock))
    await reader.has_begun("submission-one")
    own_redis.kill()
    await world.stop()
    assert reader.cancelled == {"submission-one": 1}


async def test_enqueuing_without_redis_never_raises_and_never_hangs(own_redis: RedisServer) -> None:
    queue, clock = ArqQueue(own_redis.url), Clock()
    await queue.enqueue(submission(clock))
    own_redis.pause()
    await queue.enqueue(submission(clock, "two"))
    own_redis.resume()
    own_redis.kill()
    await queue.enqueue(submission(clock, "three"))
    await queue.close()


async def test_what_is_read_is_not_kept_in_redis(redis_database: str) -> None:
    reader, clock = Reader(), Clock()
    world = RedisWorld(redis_database, reader.read)
    await world.queue.enqueue(submission(clock))
    await reader.has_ended("submission-one")
    await world.stop()
    with redis.Redis.from_url(redis_database) as client:
        kept = [name for name in client.scan_iter("*") if b"submission-one" in name]
    assert kept == []
