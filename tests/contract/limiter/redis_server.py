"""A Redis of one's own: started, paused, killed and brought back by a test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.engines.engine import NotToBeHad, free_port, program

_START_SECONDS = 60.0


class RedisServer:
    """A real redis-server on a free port of the loopback, without persistence."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._program = redis_program()
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        command = [self._program, "--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        self._process = subprocess.Popen([*command, "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL)
        self._wait_for_port()

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait(60)
        self._process = None

    def _signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def _wait_for_port(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            with socket.socket() as connection:
                connection.settimeout(1)
                if connection.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.02)
        raise TimeoutError(f"redis-server does not listen on port {self._port}")


def redis_program() -> str:
    """The redis-server to start; without one the test is left out, except on CI: there it fails."""
    try:
        return program("redis-server", "redis-server")
    except NotToBeHad as reason:
        report = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        report(f"no Redis to kill: {reason}")
