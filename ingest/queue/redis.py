"""The queue on Redis: the one file that knows arq."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import structlog
from arq import cron
from arq.connections import ArqRedis
from arq.constants import default_queue_name
from arq.worker import Worker, func
from redis.exceptions import RedisError

from ingest.queue.giving_back import turn_given_back_by
from ingest.queue.port import ReadSubmission
from ingest.queue.redis_turns import RedisTurns
from ingest.queue.turns import SLOTS, Turn, turn_of
from intel.records import Submission
from intel.redis_client import connection_pool

log = structlog.get_logger()

# A job is not of one submission: whoever does it reads the submission whose turn it is.
_JOB = "read_next"
_CHORES = "chores"
# The worker of a host writes it every half minute while it takes jobs, and it expires when that stops.
HEALTH_KEY = f"{default_queue_name}:health-check:{socket.gethostname()}"
HEALTH_KEYS = f"{default_queue_name}:health-check:*"
_JOB_SECONDS = 150
# What is being read stands in arq's queue as well, and for a while what dead workers left.
_MOST_ABOUT_TO_LOOK = 500
# A request waits for one submission to be enqueued, for many only the sweep.
_ONE_SECONDS, _MANY_SECONDS = 2.0, 10.0
_RETRY_SECONDS = 1.0
_STOPPING_SECONDS = 3.0
# A server that stands still is left for the one that takes its place.
_CONNECT_SECONDS, _ANSWER_SECONDS = 1.0, 5.0
_OUT_OF_REACH = (RedisError, OSError, asyncio.TimeoutError)


class ArqQueue:
    """Puts hints into Redis for `run_worker`. Kept as `Queue` asks."""

    def __init__(self, redis_address: str) -> None:
        self._address = redis_address
        self._pool: ArqRedis | None = None
        self._warned = False

    async def enqueue(self, *submissions: Submission) -> None:
        if not submissions:
            return
        try:
            async with asyncio.timeout(_ONE_SECONDS if len(submissions) == 1 else _MANY_SECONDS):
                if self._pool is None:
                    self._pool = _open(self._address)
                running = await RedisTurns(self._pool).wait([turn_of(submission) for submission in submissions])
                await _wake(self._pool, len(submissions), running)
            self._warned = False
        except _OUT_OF_REACH as error:
            self._warn(error)

    async def close(self) -> None:
        if self._pool is not None:
            with contextlib.suppress(*_OUT_OF_REACH):
                await self._pool.aclose(close_connection_pool=True)

    def _warn(self, error: BaseException) -> None:
        if not self._warned:
            log.warning("Redis is out of reach; submissions wait in the store", error=type(error).__name__)
        self._warned = True


def _written(job: dict[str, Any]) -> bytes:
    """Write a job as JSON: arq's own choice, pickle, runs whatever somebody else puts into Redis."""
    return orjson.dumps(job, default=repr)


def _read(written: bytes) -> dict[str, Any]:
    """Read a job. Raises ValueError if it is none: arq drops it then, and the next sweep wakes workers again."""
    job = orjson.loads(written)
    if not isinstance(job, dict) or not isinstance(job.get("f"), str):
        raise ValueError("this is no job of the queue")
    if not isinstance(job.get("a"), list) or not isinstance(job.get("k"), dict):
        raise ValueError("this job has no arguments")
    return job


async def _wake(pool: ArqRedis, most: int, running: int) -> None:
    """Have so many workers look whose turn it is, unless more than enough are about to."""
    about_to = await pool.zcard(default_queue_name) - running
    for _ in range(min(most, SLOTS) if about_to < _MOST_ABOUT_TO_LOOK else 0):
        await pool.enqueue_job(_JOB)


async def run_worker(
    redis_address: str,
    read: ReadSubmission,
    stopping: asyncio.Event,
    every_minute: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Read what is enqueued until `stopping` is set, also when Redis goes away and comes back.

    What is being read when it stops is handed back by cancelling it. `every_minute` is done once a minute, by one of
    however many workers there are.
    """

    async def read_next(ctx: dict[Any, Any]) -> None:
        with contextlib.suppress(*_OUT_OF_REACH):
            await _read_next(ctx["redis"], ctx["turns"], read)

    async def on_startup(ctx: dict[Any, Any]) -> None:
        ctx["turns"] = RedisTurns(ctx["redis"])

    async def do_chores(ctx: dict[Any, Any]) -> None:
        if every_minute is not None:
            await every_minute()

    def make() -> Worker:
        return Worker(
            functions=[func(read_next, name=_JOB, timeout=_JOB_SECONDS, keep_result=0, max_tries=1_000)],
            on_startup=on_startup,
            cron_jobs=[cron(do_chores, name=_CHORES, second=0, run_at_startup=True, timeout=_JOB_SECONDS)],
            redis_pool=_open(redis_address),
            job_serializer=_written,
            job_deserializer=_read,
            max_jobs=SLOTS,
            poll_delay=0.2,
            handle_signals=False,
            health_check_interval=30,
            health_check_key=HEALTH_KEY,
            log_results=False,
        )

    await _outlive(make, stopping)


async def _read_next(redis: ArqRedis, turns: RedisTurns, read: ReadSubmission) -> None:
    """Read the submission whose turn it is, if there is one, and see to it that the next one follows."""
    turn = await turns.take()
    if turn is None:
        return
    is_read = asyncio.Event()
    holding = asyncio.create_task(_hold(redis, turns, turn, is_read))
    try:
        with turn_given_back_by(is_read.set):
            await read(turn.submission_id)
    except asyncio.CancelledError:
        # A worker that is stopped leaves the next one to the next sweep.
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        raise
    except Exception:
        log.exception("reading a submission failed", submission=turn.submission_id)
    is_read.set()
    await holding


async def _hold(redis: ArqRedis, turns: RedisTurns, turn: Turn, is_read: asyncio.Event) -> None:
    """Hold a turn until it is given back; then have somebody look whose is next."""
    async with turns.held(turn):
        await is_read.wait()
    await redis.enqueue_job(_JOB)


async def _outlive(make: Callable[[], Worker], stopping: asyncio.Event) -> None:
    stop = asyncio.create_task(stopping.wait())
    warned = False
    while not stopping.is_set():
        worker = make()
        run = asyncio.create_task(worker.async_run())
        await asyncio.wait((run, stop), return_when=asyncio.FIRST_COMPLETED)
        error = await _end(worker, run)
        if error and not warned:
            log.warning("Redis is out of reach; trying again", error=type(error).__name__)
        warned = error is not None
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(stop), _RETRY_SECONDS)


async def _end(worker: Worker, run: asyncio.Task[None]) -> BaseException | None:
    """Stop a worker and give back its connections; return the error that it ended with, if any."""
    error = None if not run.done() or run.cancelled() else run.exception()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    await _hand_back(worker)
    if worker.pool is not None:
        with contextlib.suppress(*_OUT_OF_REACH):
            await worker.pool.aclose(close_connection_pool=True)
    if error is not None and not isinstance(error, _OUT_OF_REACH):
        raise error
    return error


async def _hand_back(worker: Worker) -> None:
    """Cancel what is being read, each once, and let arq note it; where Redis is gone that is cut short."""
    jobs = list(worker.tasks.values())
    waiting, cancelled = set(jobs), set[asyncio.Task[Any]]()
    end = asyncio.get_running_loop().time() + _STOPPING_SECONDS
    while waiting and asyncio.get_running_loop().time() < end:
        # One that was only just being taken up begins in between.
        for reading in set(worker.job_tasks.values()) - cancelled:
            reading.cancel()
            cancelled.add(reading)
        _, waiting = await asyncio.wait(waiting, timeout=0.1)
    for job in waiting:
        job.cancel()
    await asyncio.gather(*jobs, return_exceptions=True)


def _open(address: str) -> ArqRedis:
    """Return connections that jobs go through; connects when first asked."""
    pool = connection_pool(address, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_CONNECT_SECONDS)
    return ArqRedis(pool, job_serializer=_written, job_deserializer=_read)
