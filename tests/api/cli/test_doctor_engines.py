"""What `ioc doctor` finds wrong with Redis, with certificates and with workers, caused on real servers."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from redis import Redis

from ingest.queue.redis import HEALTH_KEY
from intel.settings import ElasticsearchSettings
from intel.store.elastic.store import ElasticStore
from tests.api.cli.conftest import Ask
from tests.contract.limiter.redis_server import RedisServer
from tests.contract.store.builders import make_submission
from tests.engines.authority import make_certificates

pytestmark = [pytest.mark.promise("cli.doctor"), pytest.mark.slow]

NOWHERE = {"ELASTICSEARCH_URL": "http://127.0.0.1:9", "IOC_SECRET_KEY": "a secret of a test"}


@pytest.fixture
def redis_server(redis_url: str, tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


def configure(server: RedisServer, **settings: str) -> None:
    with Redis.from_url(server.url) as redis:
        for name, value in settings.items():
            redis.config_set(name.replace("_", "-"), value)


def test_a_redis_that_may_drop_what_waits(ask: Ask, redis_server: RedisServer) -> None:
    configure(redis_server, maxmemory="100mb", maxmemory_policy="allkeys-lru")
    told = ask(REDIS_URL=redis_server.url, **NOWHERE)
    assert set(told) == {"memory of Redis", "store"}
    assert "allkeys-lru" in told["memory of Redis"]["found"] and "noeviction" in told["memory of Redis"]["advice"]


def test_a_redis_whose_memory_is_full(ask: Ask, redis_server: RedisServer) -> None:
    configure(redis_server, maxmemory="100kb")
    told = ask(REDIS_URL=redis_server.url, **NOWHERE)
    assert set(told) == {"memory of Redis", "store"} and "Raise `maxmemory`" in told["memory of Redis"]["advice"]


def test_a_redis_of_another_time(ask: Ask, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 3600)
    told = ask(REDIS_URL=redis_server.url, **NOWHERE)
    assert set(told) == {"clock", "store"} and "behind" in told["clock"]["found"] and "NTP" in told["clock"]["advice"]


def test_submissions_that_wait_while_no_worker_is_alive(
    ask: Ask, redis_server: RedisServer, elasticsearch_url: str, index_prefix: str
) -> None:
    async def submitted() -> None:
        store = ElasticStore(ElasticsearchSettings(nodes=(elasticsearch_url,), index_prefix=index_prefix))
        await store.setup()
        await store.submissions.add(make_submission())
        await store.close()

    asyncio.run(submitted())
    served = {
        **NOWHERE,
        "ELASTICSEARCH_URL": elasticsearch_url,
        "ELASTICSEARCH_INDEX_PREFIX": index_prefix,
        "REDIS_URL": redis_server.url,
    }
    told = ask(**served)
    assert "no workers are alive" in told["queue"]["found"] and "ioc worker" in told["queue"]["advice"]
    with Redis.from_url(redis_server.url) as redis:
        redis.set(HEALTH_KEY, "as a worker says every half minute", ex=60)
    told = ask(**served)
    assert "1 worker is alive" in told["queue"]["found"] and "start more" in told["queue"]["advice"]


@contextmanager
def speaking_tls(context: ssl.SSLContext) -> Iterator[int]:
    """A server that shows its certificate and then says nothing, on the port that is given."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    with listener.accept()[0] as connection, context.wrap_socket(connection, server_side=True):
                        pass
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)


@pytest.mark.parametrize(
    ("days", "said"), [(1, "expires at"), (-1, "expired at"), (365, "")], ids=["soon", "expired", "holds"]
)
def test_a_certificate_that_expires_soon(ask: Ask, tmp_path: Path, days: int, said: str) -> None:
    certificates = make_certificates(tmp_path / "certificates", days=days)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server, certificates.key)
    with speaking_tls(context) as port:
        told = ask(
            ELASTICSEARCH_URL=f"https://127.0.0.1:{port}",
            ELASTICSEARCH_CA_CERTS=str(certificates.authority),
            REDIS_URL="redis://127.0.0.1:9",
            IOC_SECRET_KEY="a secret of a test",
        )
    assert ("certificates" in told) is bool(said)
    if said:
        found = told["certificates"]["found"]
        assert f"127.0.0.1:{port} {said}" in found and f"{certificates.authority} {said}" in found
        assert "Renew" in told["certificates"]["advice"]
