"""The queue on Redis: the one file that knows arq."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import structlog
from arq import create_pool, cron
from arq.connections import ArqRedis, RedisSettings
from arq.constants import in_progress_key_prefix
from arq.worker import Retry, Worker, func
from redis.exceptions import RedisError

from ingest.queue.hosts import host_of, slot_of_host
from ingest.queue.port import ReadSubmission
from intel.records import Submission

log = structlog.get_logger()

_JOB = "read_submission"
_CHORES = "chores"
# A job waits for a free slot at most a day in Redis; the sweep enqueues it again should that pass.
_CONCURRENCY = 10
_JOB_SECONDS = 150
# arq believes in a worker for so much longer than a job may take.
_ARQ_GRACE_SECONDS = 10
# A claim takes no longer, or fails.
_CLAIMING_SECONDS = 40
_RETRY_SECONDS = 1.0
_STOPPING_SECONDS = 3.0
# A job whose host has no free slot lets others go first.
_HOST_BUSY_SECONDS = (0.3, 1.2)
_OUT_OF_REACH = (RedisError, OSError, asyncio.TimeoutError)


class ArqQueue:
    """Puts hints into Redis for `run_worker`. Kept as `Queue` asks."""

    def __init__(self, redis_address: str) -> None:
        self._settings = _redis_settings(redis_address)
        self._pool: ArqRedis | None = None
        self._warned = False

    async def enqueue(self, submission: Submission) -> None:
        try:
            async with asyncio.timeout(2):
                if self._pool is None:
                    self._pool = await create_pool(self._settings, job_serializer=_written, job_deserializer=_read)
                job_id = f"{submission.id}:{submission.attempts}"
                if await _is_orphaned(self._pool, job_id):
                    job_id += ":again"
                await self._pool.enqueue_job(_JOB, submission.id, host_of(submission.url), _job_id=job_id)
            self._warned = False
        except _OUT_OF_REACH as error:
            self._warn(error)

    async def close(self) -> None:
        if self._pool is not None:
            with contextlib.suppress(*_OUT_OF_REACH):
                await self._pool.aclose()

    def _warn(self, error: BaseException) -> None:
        if not self._warned:
            log.warning("Redis is out of reach; submissions wait in the store", error=type(error).__name__)
        self._warned = True


def _written(job: dict[str, Any]) -> bytes:
    """Write a job as JSON: arq's own choice, pickle, runs whatever somebody else puts into Redis."""
    return orjson.dumps(job, default=repr)


def _read(written: bytes) -> dict[str, Any]:
    """Read a job. Raises ValueError if it is none: arq drops it then, and the sweep enqueues the submission again."""
    job = orjson.loads(written)
    if not isinstance(job, dict) or not isinstance(job.get("f"), str):
        raise ValueError("this is no job of the queue")
    if not isinstance(job.get("a"), list) or not isinstance(job.get("k"), dict):
        raise ValueError("this job has no arguments")
    return job


async def _is_orphaned(pool: ArqRedis, job_id: str) -> bool:
    """Whether a worker took that job long ago, and died before it claimed the submission: arq waits for it still."""
    left: int = await pool.pttl(in_progress_key_prefix + job_id)
    return 0 < left < (_JOB_SECONDS + _ARQ_GRACE_SECONDS - _CLAIMING_SECONDS) * 1_000


async def run_worker(
    redis_address: str,
    read: ReadSubmission,
    stopping: asyncio.Event,
    every_minute: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Reads what is enqueued until `stopping` is set; outlives a Redis that goes away and comes back.

    What is being read when it stops is handed back by cancelling it. `every_minute` is done once a minute, by one of
    however many workers there are.
    """

    async def read_submission(ctx: dict[Any, Any], *arguments: Any) -> None:
        submission_id, host = map(str, arguments)
        async with slot_of_host(ctx["redis"], host) as is_free:
            if not is_free:
                raise Retry(defer=random.uniform(*_HOST_BUSY_SECONDS))
            try:
                await read(submission_id)
            except Exception:
                log.exception("reading a submission failed", submission=submission_id)

    async def do_chores(ctx: dict[Any, Any]) -> None:
        if every_minute is not None:
            await every_minute()

    def make() -> Worker:
        return Worker(
            functions=[func(read_submission, name=_JOB, timeout=_JOB_SECONDS, keep_result=0, max_tries=1_000)],
            cron_jobs=[cron(do_chores, name=_CHORES, second=0, run_at_startup=True, timeout=_JOB_SECONDS)],
            redis_settings=_redis_settings(redis_address),
            job_serializer=_written,
            job_deserializer=_read,
            max_jobs=_CONCURRENCY,
            poll_delay=0.2,
            handle_signals=False,
            health_check_interval=30,
            log_results=False,
        )

    await _outlive(make, stopping)


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
    """Stops a worker and gives back its connections; the error that it ended with, if any."""
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
    """Cancels what is being read, each once, and lets arq note it; where Redis is gone that is cut short."""
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


def _redis_settings(address: str) -> RedisSettings:
    settings = RedisSettings.from_dsn(address)
    settings.conn_timeout = 1
    settings.conn_retries = 0
    settings.conn_retry_delay = 0
    return settings
