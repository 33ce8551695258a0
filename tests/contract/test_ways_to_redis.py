"""The ways to Redis: with TLS, and through Sentinels that name another master after the first one was killed."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as NoConnection

from api.limits.bucket import Rate
from api.limits.port import LimiterUnavailable
from api.limits.redis_limiter import RedisLimiter
from ingest.queue.alive import is_alive
from ingest.queue.redis import ArqQueue, run_worker
from intel.redis_client import connection_pool
from tests.contract.limiter.redis_server import redis_program
from tests.contract.store.builders import make_submission
from tests.engines.authority import Certificates, make_certificates
from tests.engines.engine import free_port
from tests.engines.redis_cluster import redis_cluster

pytestmark = [pytest.mark.slow, pytest.mark.promise("operations.ways-to-redis")]

RATE = Rate(10, 3600)
PATIENCE_SECONDS = 60.0


@contextmanager
def server_with_tls(folder: Path, files: Certificates) -> Iterator[int]:
    port = free_port()
    named = [("cert-file", files.server), ("key-file", files.key), ("ca-cert-file", files.authority)]
    tls = [part for name, file in named for part in (f"--tls-{name}", str(file))]
    options = ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no", "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen([redis_program(), *tls, *options], cwd=folder, stdout=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait(60)


async def until(try_it: Callable[[], Awaitable[object]], *errors: type[Exception]) -> None:
    """Tries again and again until it is true."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                if await try_it():
                    return
            except errors:
                pass
            await asyncio.sleep(0.1)


async def answers(address: str) -> bool:
    redis = Redis.from_pool(connection_pool(address, socket_timeout=2))
    try:
        return bool(await redis.ping())
    finally:
        await redis.aclose()


async def test_a_certificate_has_to_be_of_the_named_authority_and_of_that_host(redis_url: str, tmp_path: Path) -> None:
    own = make_certificates(tmp_path / "own", ["127.0.0.1"])
    other = make_certificates(tmp_path / "other")
    with server_with_tls(tmp_path, own) as port:
        trusted = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={own.authority}"
        await until(lambda: answers(trusted), NoConnection)
        limiter = RedisLimiter(trusted)
        assert (await limiter.take("key", RATE)).remaining == 9
        await limiter.close()
        for address in (
            f"rediss://127.0.0.1:{port}/0",
            f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={other.authority}",
            f"rediss://localhost:{port}/0?ssl_ca_certs={own.authority}",
        ):
            with pytest.raises(NoConnection, match="certificate"):
                await answers(address)


@pytest.mark.timeout(900)
async def test_limits_and_work_go_on_when_the_master_is_killed(redis_url: str, tmp_path: Path) -> None:
    redis_program()
    with redis_cluster(tmp_path / "redis", make_certificates(tmp_path / "own")) as cluster:
        read: list[str] = []
        stopping = asyncio.Event()

        async def note(submission_id: str) -> None:
            read.append(submission_id)

        limiter, queue = RedisLimiter(cluster.url), ArqQueue(cluster.url)
        assert not await is_alive(cluster.url)
        worker = asyncio.create_task(run_worker(cluster.url, note, stopping))

        async def is_read(id: str) -> bool:
            await queue.enqueue(make_submission(id))
            return f"submission-{id}" in read

        await until(lambda: limiter.take("key", RATE), LimiterUnavailable)
        await until(lambda: is_read("before"))
        first = cluster.master()
        cluster.kill_master()
        await until(lambda: limiter.take("another", RATE), LimiterUnavailable)
        await until(lambda: is_read("after"))
        assert cluster.master() != first
        assert await is_alive(cluster.url)
        stopping.set()
        await asyncio.wait_for(worker, PATIENCE_SECONDS)
        await queue.close()
        await limiter.close()
