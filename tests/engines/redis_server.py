"""Redis for tests: a given one, the local redis-server on a port of its own, or a container."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import redis

from tests.engines.docker_engine import redis_container
from tests.engines.engine import Engine, NotToBeHad, first_of, free_port, program, running, wait_until

VARIABLE = "TEST_REDIS_URL"


def redis_server() -> AbstractContextManager[Engine]:
    """A Redis that holds nothing of value; the address is its URL without a database."""
    return first_of(
        VARIABLE,
        installed_server,
        lambda: redis_container(pull=False),
        local_server,
        lambda: redis_container(pull=True),
    )


def installed_server() -> AbstractContextManager[Engine]:
    if shutil.which("redis-server") is None:
        raise NotToBeHad("redis-server is not installed")
    return local_server()


def answers(url: str) -> bool:
    client = redis.Redis.from_url(url, socket_timeout=2)
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
    finally:
        client.close()


@contextmanager
def local_server() -> Iterator[Engine]:
    binary, port = program("redis-server", "redis-server"), free_port()
    url = f"redis://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--databases", "1024", "--dir", folder]
        process = subprocess.Popen(
            [binary, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )
        with running(process):
            wait_until(process, lambda: answers(url), 20)
            yield Engine(url, f"{url} ({binary})")
