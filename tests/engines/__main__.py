"""Finds or starts every engine once, says in a line each which it is, runs pytest on them, stops what it started.

With --quick it starts none. In CI the few tests that failed beside others run once more, alone. What tests write goes
into memory where there is room: SQLite syncs each of its commits.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
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

FAILED = Path(".pytest_cache/v/cache/lastfailed")
# On a busy machine a test, or what a whole file of them stands on, may wait longer than anybody would; more files of
# them at once are no accident.
MOST_AGAIN = 5
MOST_TOLD = 20
TESTS_FAILED = 1


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


def failed() -> list[str]:
    """The tests that failed in the last run, where pytest has kept them."""
    with contextlib.suppress(OSError, ValueError):
        return sorted(json.loads(FAILED.read_text()))
    return []


def run_all(arguments: list[str], environment: dict[str, str]) -> int:
    """Runs the tests; in CI the few that failed once more, one after another, so that each is alone on the machine."""
    code = run_pytest(arguments, environment)
    found = failed()
    files = {test.partition("::")[0] for test in found}
    if code != TESTS_FAILED or not environment.get("CI") or not 0 < len(files) <= MOST_AGAIN:
        return code
    say(f"{len(found)} failed beside others and run once more, alone: {', '.join(found[:MOST_TOLD])}")
    return run_pytest([*arguments, "-n", "0", "--last-failed"], environment)


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
        return run_all(arguments, environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
