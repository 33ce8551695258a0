"""Finds or starts every engine once, says in a line each which it is, runs pytest on them, stops what it started.

With --quick it starts none. What tests write goes into memory where there is room: SQLite syncs each of its commits.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack
from tempfile import TemporaryDirectory, gettempdir
from types import FrameType

from tests.engines import chromium, elasticsearch_server, redis_server
from tests.engines.docker_engine import docker_engine
from tests.engines.engine import LEFT_OUT, Engine, NotToBeHad, Source, memory_folder, say

ENGINES: tuple[tuple[str, str, Source], ...] = (
    ("Elasticsearch", elasticsearch_server.VARIABLE, elasticsearch_server.elasticsearch),
    ("Redis", redis_server.VARIABLE, redis_server.redis_server),
    ("Chromium", chromium.VARIABLE, chromium.chromium),
)


def enter(stack: ExitStack, name: str, source: Source) -> Engine | None:
    try:
        engine = stack.enter_context(source())
    except NotToBeHad as reason:
        say(f"{name}: not to be had, its tests are left out: {reason}")
        return None
    say(f"{name}: {engine.origin}")
    return engine


def run_pytest(arguments: list[str], environment: dict[str, str]) -> int:
    with subprocess.Popen([sys.executable, "-m", "pytest", *arguments], env=environment) as pytest:
        try:
            while True:
                # Ctrl-C reaches pytest by itself; it ends with its own report.
                with contextlib.suppress(KeyboardInterrupt):
                    return pytest.wait()
        except SystemExit:
            pytest.terminate()
            raise


def end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, end)
    environment = dict(os.environ)
    with ExitStack() as stack:
        say(f"SQLite: {sqlite3.sqlite_version} (Python {sys.version.split()[0]})")
        environment.setdefault(elasticsearch_server.CACHE, gettempdir())
        if folder := memory_folder():
            environment["TMPDIR"] = stack.enter_context(
                TemporaryDirectory(prefix="tests-", dir=folder, ignore_cleanup_errors=True)
            )
        quick = "--quick" in arguments
        for name, variable, source in ENGINES:
            engine = None if quick else enter(stack, name, source)
            environment[variable] = engine.address if engine else LEFT_OUT
        if not quick:
            enter(stack, "Docker", docker_engine)
        return run_pytest(arguments, environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
